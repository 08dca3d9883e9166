"""What `fx dev` has started ends behind it, whatever the project's code does."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest
import trio

from fxtrio.develop.processes.messages import BEGIN, SERVE, VARIABLE, ChildSettings
from tests.trees import write_tree

SPINNING = """
from pathlib import Path

Path("begun").touch()
while True:
    pass
"""

AT_ONCE = """
import sys
from fxtrio.develop.serving import child

child.GRACE = child._MORE = 0
sys.exit(child.serve())
"""
"""The process that serves, which does not wait for the app to end by itself."""


@pytest.mark.own_interpreter
async def test_an_import_that_never_ends_ends_behind_its_parent(tmp_path: Path) -> None:
    write_tree(tmp_path, {"app.py": SPINNING})
    read, write = os.pipe()
    with socket.socket() as listener:
        settings = ChildSettings(
            root=str(tmp_path),
            app="app:app",
            host="",
            vite=str(tmp_path),
            socket=listener.fileno(),
            replies=write,
        )
        child = await trio.lowlevel.open_process(
            [sys.executable, "-c", AT_ONCE],
            cwd=tmp_path,
            env={**os.environ, VARIABLE: settings.to_json()},
            stdin=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            pass_fds=(listener.fileno(), write),
            start_new_session=True,
        )
    os.close(read)
    os.close(write)
    try:
        assert child.stdin is not None
        await child.stdin.send_all(BEGIN + SERVE)
        with trio.fail_after(60):
            while not (tmp_path / "begun").exists():
                assert child.returncode is None
                await trio.sleep(0.02)
            await child.stdin.aclose()  # as it is when the parent is killed
            assert await child.wait() == -signal.SIGKILL
    finally:
        if child.returncode is None:
            child.kill()
