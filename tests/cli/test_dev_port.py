"""A port that is taken: `fx dev` takes the next one, `fx serve` says what to do."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
import trio
from click.testing import CliRunner

from fxtrio.cli import main
from fxtrio.develop.listener import open_listener
from fxtrio.server.supervise.listening.tcp import BindFailed
from tests.ports import PORTS
from tests.trees import write_tree

PAGE = {"pages/index.fxl": "export default () => <h1>here</h1>;\n"}


@pytest.fixture
def taken() -> Iterator[int]:
    """A port that is in use, and whose next one is free."""
    port = PORTS.reserve(2)
    with socket.create_server(("127.0.0.1", port)):
        yield port


def test_the_next_free_port_takes_the_place_of_one_that_is_taken(taken: int) -> None:
    with open_listener("127.0.0.1", taken) as listener:
        assert listener.getsockname()[1] == taken + 1
    with open_listener("127.0.0.1", 0) as listener:
        assert listener.getsockname()[1] > 0


def test_another_failure_is_reported_at_once() -> None:
    with pytest.raises(BindFailed, match=r"203\.0\.113\.7"), open_listener("203.0.113.7", 8000):
        pass


def test_ports_end(monkeypatch: pytest.MonkeyPatch) -> None:
    with open_listener("127.0.0.1", 65535) as _, pytest.raises(BindFailed, match="65535"):
        with open_listener("127.0.0.1", 65535):
            pass


@pytest.mark.node
async def test_fx_dev_says_which_port_it_has_taken(taken: int, tmp_path: Path) -> None:
    write_tree(tmp_path, PAGE)
    command = [sys.executable, "-m", "fxtrio", "dev", "--port", str(taken)]
    run = partial(trio.run_process, stdout=subprocess.PIPE, check=False, cwd=tmp_path)
    with trio.fail_after(60):
        async with trio.open_nursery() as nursery:
            process = await nursery.start(run, command)
            printed = b""
            while b"http://" not in printed:
                printed += await process.stdout.receive_some()
            process.terminate()
    assert f"Port {taken} is taken: this is {taken + 1}." in printed.decode()
    assert f"http://127.0.0.1:{taken + 1}/" in printed.decode()


@pytest.mark.node
def test_fx_serve_says_that_a_port_is_taken(
    taken: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_tree(tmp_path, PAGE)
    monkeypatch.setenv("FX_SECRET_KEY", "a key for tests that is long enough")
    assert CliRunner().invoke(main, ["build", "--root", str(tmp_path)]).exit_code == 0
    done = subprocess.run(
        [sys.executable, "-m", "fxtrio", "serve", "--port", str(taken)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 1
    assert f"bind '127.0.0.1:{taken}': Address already in use. Choose another" in done.stderr
    assert "Traceback" not in done.stderr
