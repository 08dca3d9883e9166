"""The process that `fx dev` forks is like one that was started with an interpreter of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from fxtrio.develop.processes.forked_server import can_fork

pytestmark = [
    pytest.mark.own_interpreter,
    pytest.mark.skipif(sys.platform != "linux", reason="nothing is forked elsewhere"),
]

PROJECT = """
import atexit, json, os, signal, sys, threading
main = sys.modules["__main__"]
mask = signal.pthread_sigmask(signal.SIG_BLOCK, [])
numbers = signal.SIGINT, signal.SIGTERM, signal.SIGHUP
places = [os.readlink(f"/proc/self/fd/{number}") for number in os.listdir("/proc/self/fd")
          if os.path.exists(f"/proc/self/fd/{number}")]
facts = {
    "arguments": sys.argv,
    "path": sys.path,
    "folder": os.getcwd(),
    "variables": sorted(os.environ),
    "mode": os.environ["FX_MODE"],
    "main": main.__spec__.name,
    "leads a session": os.getsid(0) == os.getpid(),
    "signals": [str(signal.getsignal(number)) for number in numbers],
    "blocked": sorted(mask),
    "threads": [thread.name for thread in threading.enumerate()],
    "pipes": sum(place.startswith("pipe:") for place in places),
    "sockets": sum(place.startswith("socket:") for place in places),
    "output": [(stream.write_through, stream.errors, stream.encoding)
               for stream in (sys.stdout, sys.stderr)],
}
open(f"{sys.path[0]}/facts", "w").write(json.dumps(facts))
atexit.register(lambda: sys.stdout.write("the end"))
print("the beginning", end=" ")
sys.exit("enough")
"""

COMMAND = """
import json, os, signal, socket, subprocess, sys
from pathlib import Path
from fxtrio.develop.processes.forked_server import fork_server
from fxtrio.develop.processes.launch import Ahead, Server, launch_server
from fxtrio.develop.processes.messages import BEGIN
from fxtrio.temporary_folders import open_temporary_folder

root = Path(sys.argv[1])
signal.signal(signal.SIGTERM, lambda *_: None)
signal.signal(signal.SIGHUP, signal.SIG_IGN)  # as below `nohup`, which the process inherits
beside = subprocess.Popen(["/bin/cat"], stdin=subprocess.PIPE)
ahead = Ahead(None, (None, beside))
with socket.socket() as listening, open_temporary_folder("fx-forked-", root) as folder:
    server = Server(root=root, app="project:app", host="localhost", vite=root, socket=listening)
    for way in ("launched", "forked"):
        if way == "forked":
            ahead.fork(server, fork_server)
        launched = launch_server(server) if way == "launched" else ahead.server(server)
        process = launched.process
        process.stdin.write(BEGIN)
        said = process.stderr.read().decode()
        code = process.wait()
        assert process.poll() == code
        for stream in (process.stdin, process.stderr, open(launched.replies)):
            stream.close()
        facts = json.loads((root / "facts").read_text())
        (root / "facts").unlink()
        print(json.dumps({**facts, "said": said, "code": code}), flush=True)
    assert folder.exists() and beside.poll() is None
    beside.stdin.close()
    assert beside.wait(30) == 0, "somebody else has its standard input"
    forked = fork_server(server, ahead.leave).process
    forked.kill()
    print(json.dumps(forked.wait()))
"""


def test_a_forked_process_is_like_a_started_one(tmp_path: Path) -> None:
    (tmp_path / "project.py").write_text(PROJECT)
    script = tmp_path / "bin/fx"
    script.parent.mkdir()
    script.write_text(COMMAND)
    command = [sys.executable, str(script), str(tmp_path)]
    environment = {**os.environ, "LC_ALL": "C.UTF-8"}  # where the output takes any file name
    run = subprocess.run(
        command, cwd="/", env=environment, capture_output=True, text=True, timeout=60
    )
    assert run.returncode == 0, run.stderr

    launched, forked, killed = run.stdout.replace("the beginning the end", "").splitlines()
    assert run.stdout.count("the beginning the end") == 2
    assert_alike(json.loads(launched), json.loads(forked))
    assert json.loads(forked)["said"].endswith("enough\n")
    assert json.loads(killed) == -9


def assert_alike(launched: dict[str, Any], forked: dict[str, Any]) -> None:
    for name, value in launched.items():
        assert forked[name] == value, name


@pytest.mark.parametrize(
    ("name", "forks"),
    [
        ("FX_PUBLIC_NAME", True),
        ("DATABASE_URL", True),
        ("PYTHONWARNINGS", False),
        ("LD_PRELOAD", False),
        ("TZ", False),
    ],
)
def test_what_an_interpreter_reads_at_its_start_is_not_for_a_fork(
    name: str, forks: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(threading, "active_count", lambda: 1)
    monkeypatch.setattr(sys, "gettrace", lambda: None)
    assert can_fork(["FX_MODE", name]) is forks


def test_nothing_is_forked_beside_another_thread() -> None:
    waiting = threading.Event()
    thread = threading.Thread(target=waiting.wait)
    thread.start()
    try:
        assert not can_fork([])
    finally:
        waiting.set()
        thread.join()
