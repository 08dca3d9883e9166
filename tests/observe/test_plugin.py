"""The observe plugin: who gets the tree over HTTP, and what the commands say of it."""

from __future__ import annotations

import os
import socket
import sys
import threading
from pathlib import Path

import pytest
import trio
from click.testing import CliRunner

from fx.testing import open_app
from fxtrio.cli.tree import command
from fxtrio.observe import observer
from fxtrio.observe.observer import SIGNAL, ProcessNotObserved, ask_process
from fxtrio.plugins.protocol import PluginFailed
from tests.trees import page, write_tree

GUARDS = """
    from starlette.responses import PlainTextResponse

    async def operators(request):
        if request.headers.get("authorization") != "Bearer right":
            return PlainTextResponse("Not you.", 403)

    def no_function_of_async(request):
        return None
    """


@pytest.fixture
def root(tmp_path: Path) -> Path:
    files = {
        "pages/index.fxl": page("@server\nasync def load(request):\n    return {}\n"),
        "guards.py": GUARDS,
    }
    return write_tree(tmp_path, files)


def plugin(**settings: str) -> list[dict[str, object]]:
    return [{"name": "observe", "settings": settings}]


async def test_only_those_whom_the_guard_admits_get_the_tree(root: Path) -> None:
    async with open_app(root, plugins=plugin(guard="guards:operators")) as client:
        assert (await client.get("/_tree")).status == 403
        answer = await client.get("/_tree", headers={"authorization": "Bearer right"})
        json = {"authorization": "Bearer right", "accept": "application/json"}
        data = (await client.get("/_tree", headers=json)).json()

    assert answer.text.startswith(f"process {os.getpid()}, ")
    assert "« GET /_tree" in answer.text
    assert data["process"] == os.getpid()
    assert answer.headers["cache-control"] == "no-store"


async def test_without_a_guard_nothing_is_served_and_the_machine_can_ask(root: Path) -> None:
    async with open_app(root, plugins=plugin()) as client:
        assert (await client.get("/_tree")).status == 404
        assert b'"root":' in ask_process(os.getpid())
    with pytest.raises(ProcessNotObserved, match="does not answer"):
        ask_process(os.getpid())


async def test_a_guard_that_is_not_asynchronous_stops_the_start(root: Path) -> None:
    with pytest.raises(PluginFailed, match="which is not async"):
        async with open_app(root, plugins=plugin(guard="guards:no_function_of_async")):
            pass


@pytest.mark.skipif(sys.platform != "linux", reason="its sockets are Linux's")
async def test_one_that_does_not_read_the_tree_holds_up_no_shutdown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Huge:
        def as_dict(self) -> dict[str, str]:
            requested.set()
            return {"tree": "." * 10_000_000}

    requested = threading.Event()
    monkeypatch.setattr(observer, "_PATIENCE", 3600.0)
    monkeypatch.setattr(observer, "_END", 3600.0)
    monkeypatch.setattr(observer, "take_tree", lambda *_: Huge())
    with socket.socket(socket.AF_UNIX) as idle:
        with observer.open_observer():
            idle.connect(observer._address(os.getpid()))
            await trio.to_thread.run_sync(requested.wait)

    assert "fx-observer" not in [thread.name for thread in threading.enumerate()]


def test_the_signal_handler_is_restored() -> None:
    import signal

    assert signal.getsignal(SIGNAL) is signal.SIG_DFL


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "Name a process by --pid or a server by --url."),
        (["--pid", "1", "--url", "http://x"], "Name a process by --pid or a server by --url."),
        (["--pid", "1", "--header", "a: b"], "--header is for --url."),
        (["--url", "http://x", "--header", "token"], "has no colon"),
        (["--url", "file:///etc/passwd"], "is not a URL of HTTP"),
    ],
)
def test_a_wrong_call_is_explained(arguments: list[str], message: str) -> None:
    result = CliRunner().invoke(command, arguments)

    assert result.exit_code == 2
    assert message in result.output
