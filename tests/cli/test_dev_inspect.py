"""`fx dev --inspect`: a debugger attaches and stops in a page file; without it nothing waits."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import attrs
import httpx
import pytest
import trio
from click.testing import CliRunner

from fxtrio.cli import main
from fxtrio.develop.processes import debugger
from fxtrio.tools.types.report.rpc_frames import MessageSource, message_bytes, read_message
from tests.ports import PORTS
from tests.trees import write_tree

PAGE = """@server
async def load(request):
    word = "stopped"
    breakpoint()
    return {"word": word}


export default function Page({ data }) {
  return <h1>{data.word}</h1>;
}
"""


@attrs.define
class Editor:
    """A client of the Debug Adapter Protocol."""

    stream: trio.SocketStream
    source: MessageSource
    numbers: Iterator[int] = attrs.field(factory=lambda: count(1))

    async def send(self, command: str, **arguments: Any) -> None:
        request = {"seq": next(self.numbers), "type": "request", "command": command}
        await self.stream.send_all(message_bytes({**request, "arguments": arguments}))

    async def wait_for(self, **fields: Any) -> Any:
        while (message := await read_message(self.source)) is not None:
            if all(message.get(name) == value for name, value in fields.items()):
                return message
        raise AssertionError(f"the debugger ended before {fields}")

    async def ask(self, command: str, **arguments: Any) -> Any:
        await self.send(command, **arguments)
        answer = await self.wait_for(type="response", command=command)
        assert answer["success"], answer
        return answer.get("body")


@asynccontextmanager
async def attached(port: int) -> AsyncIterator[Editor]:
    stream = await trio.open_tcp_stream("127.0.0.1", port)
    async with stream:
        editor = Editor(stream, MessageSource(stream))
        await editor.send("initialize", adapterID="tests", clientID="tests")
        await editor.wait_for(type="response", command="initialize")
        await editor.send("attach", justMyCode=False)
        await editor.wait_for(type="event", event="initialized")
        await editor.ask("configurationDone")
        yield editor


@attrs.define
class Output:
    """What a process prints."""

    text: str = ""
    more: trio.Event = attrs.field(factory=trio.Event)

    async def read(self, stream: trio.abc.ReceiveStream) -> None:
        async for data in stream:
            self.text += data.decode()
            self.more.set()
            self.more = trio.Event()

    async def wait_for(self, text: str) -> None:
        await self.match(re.escape(text))

    async def match(self, pattern: str) -> str:
        while not (found := re.search(pattern, self.text)):
            await self.more.wait()
        return found[0]


@asynccontextmanager
async def developing(root: Path, *options: str) -> AsyncIterator[tuple[str, Output]]:
    """Run `fx dev`; yield its URL, and what it prints."""
    command = [sys.executable, "-m", "fxtrio", "dev", "--port", "0", *options]
    run = partial(trio.run_process, cwd=root, check=False, stdin=subprocess.PIPE)
    output = Output()
    async with trio.open_nursery() as nursery:
        start = partial(run, command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        process: trio.Process = await nursery.start(start)
        assert process.stdout is not None
        nursery.start_soon(output.read, process.stdout)
        url = await output.match(r"http://\S+(?=\s)")
        assert "shows the error" not in output.text, output.text  # it serves nothing else
        yield url, output
        process.terminate()


@pytest.mark.node
async def test_a_debugger_stops_in_a_page_and_lets_it_continue(tmp_path: Path) -> None:
    write_tree(tmp_path, {"pages/index.fxl": PAGE})
    port = PORTS.reserve(1)
    answers: list[httpx.Response] = []

    async def get(url: str) -> None:
        async with httpx.AsyncClient(timeout=60) as client:
            answers.append(await client.get(url))

    with trio.fail_after(90):
        async with (
            developing(tmp_path, "--inspect", str(port)) as (url, output),
            attached(port) as editor,
            trio.open_nursery() as nursery,
        ):
            nursery.start_soon(get, url)
            stopped = await editor.wait_for(type="event", event="stopped")
            thread = stopped["body"]["threadId"]
            frames = await editor.ask("stackTrace", threadId=thread)
            top = frames["stackFrames"][0]
            value = await editor.ask("evaluate", expression="word", frameId=top["id"])
            await editor.send("continue", threadId=thread)

    assert f"A debugger may attach to 127.0.0.1:{port}." in output.text
    assert (Path(top["source"]["path"]).name, top["name"]) == ("index.fxl", "load")
    assert value["result"] == "'stopped'"
    assert [answer.status_code for answer in answers] == [200]


@pytest.mark.node
async def test_without_a_debugger_a_breakpoint_is_logged_and_the_page_continues(
    tmp_path: Path,
) -> None:
    write_tree(tmp_path, {"pages/index.fxl": PAGE})
    with trio.fail_after(90):
        async with developing(tmp_path) as (url, output), httpx.AsyncClient(timeout=60) as client:
            answer = await client.get(url)
            await output.wait_for("fx dev --inspect")

    assert answer.status_code == 200
    assert "pages/index.fxl:4: breakpoint() needs a debugger" in output.text


def test_a_missing_debugger_is_named_with_its_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_tree(tmp_path, {"pages/index.fxl": PAGE})
    monkeypatch.setattr(debugger, "find_spec", lambda name: None)

    found = CliRunner().invoke(main, ["dev", "--root", str(tmp_path), "--inspect"])

    assert found.exit_code == 1
    assert 'Run "pip install debugpy"' in found.output
