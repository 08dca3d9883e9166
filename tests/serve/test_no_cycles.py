"""What a request has loaded is freed when it ends, without the garbage collector."""

from __future__ import annotations

import gc
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from textwrap import dedent, indent
from weakref import ref

import pytest
import trio
import trio.testing
from starlette.websockets import WebSocketDisconnect

from fx.testing import open_app
from fxtrio.send_budget import process_unsent
from tests.serve.test_deferred_values import open_renderer
from tests.trees import write_tree

LOADED: list[ref[object]] = []


class Loaded(dict[str, object]):
    """What a loader gives, of which one can see when it is freed."""

    def __init__(self, **values: object) -> None:
        super().__init__(values)
        LOADED.append(ref(self))


IMPORTS = """\
import trio
from fx.runtime import ActionError, LoaderError, action, server
from tests.serve.test_no_cycles import Loaded

"""

UI = """

export default function Page({ data }) {
  if (data.fails) throw new Error("the render failed");
  return <p>{data.text}</p>;
}
"""

BOUNDARY = "export default function Failed() {\n  return <p>oh</p>;\n}\n"

LOADERS = {
    "a good page": "return loaded",
    "a LoaderError": 'raise LoaderError("no", 404)',
    "a LoaderError in a nursery": """\
        async with trio.open_nursery():
            raise LoaderError("no", 404)""",
    "an exception": 'raise RuntimeError("a defect")',
    "an exception with a cause": """\
        try:
            {}["x"]
        except KeyError as error:
            raise RuntimeError("a defect") from error""",
    "an error that cannot be sent": 'raise LoaderError("no", int("99"))',
    "a result that is none": "return [loaded]",
    "a value that JSON does not know": 'loaded["other"] = object(); return loaded',
    "a render that fails": 'loaded["fails"] = True; return loaded',
    "a page for which there is no room": 'loaded["text"] *= 15_000; return loaded',
}


@contextmanager
def no_garbage_collection() -> Iterator[None]:
    gc.disable()  # without a collection before: that is slow where all tests share a process
    logging.disable()  # pytest keeps what is logged, with its tracebacks
    try:
        yield
    finally:
        logging.disable(logging.NOTSET)
        gc.enable()


def page(loader: str) -> str:
    body = f'loaded = Loaded(text="a text")\n{dedent(loader)}'
    return f"{IMPORTS}@server\nasync def load(request):\n{indent(body, '    ')}{UI}"


async def test_nothing_of_a_page_waits_for_the_garbage_collector(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "fxtrio.serve.pages.html.large.IN_HAND", 0
    )  # nor waits for room with its data
    files = {"pages/shown/error.fxl": BOUNDARY}
    for number, loader in enumerate(LOADERS.values()):
        files[f"pages/plain/n{number}.fxl"] = files[f"pages/shown/n{number}.fxl"] = page(loader)
    write_tree(tmp_path, files)
    retained = set()
    async with open_app(tmp_path) as client:
        for number, what in enumerate(LOADERS):
            full = process_unsent.capacity + 1 if "no room" in what else 0
            for url in (f"/plain/n{number}", f"/shown/n{number}"):
                for navigation in ({}, {"x-fx-navigation": "1"}):
                    with process_unsent.reserving(full), no_garbage_collection():
                        LOADED.clear()
                        await client.get(url, headers=navigation)
                        assert len(LOADED) == 1
                        if LOADED[0]() is not None:
                            retained.add((what, url, *navigation))
    assert retained == set()


async def test_nothing_of_a_page_whose_client_leaves_waits_for_the_garbage_collector(
    tmp_path: Path, autojump_clock: trio.testing.MockClock
) -> None:
    loader = "return {'loaded': loaded, 'later': defer(trio.sleep_forever)}"
    text = page(loader).replace("import trio", "import trio\nfrom fx.runtime import defer", 1)
    files = {"pages/index.fxl": text, "pages/waits/index.fxl": page("await trio.sleep_forever()")}
    files["pages/waits/loading.fxl"] = BOUNDARY
    write_tree(tmp_path, files)
    retained = set()
    async with open_app(tmp_path, open_renderer=open_renderer) as client:
        for url in ("/", "/waits"):
            for headers in ({}, {"x-fx-navigation": "1"}):
                with no_garbage_collection():
                    LOADED.clear()
                    with trio.move_on_after(2):
                        async with client.stream("GET", url, headers=headers) as response:
                            async for _ in response:
                                pass
                    await trio.testing.wait_all_tasks_blocked()
                    assert len(LOADED) == 1
                    if LOADED[0]() is not None:
                        retained.add((url, *headers))
    assert retained == set()


HANDLERS = {
    "a handler that returns": "return",
    "a client that leaves": "while True: await ws.receive_text()",
    "a client that leaves a channel": """\
        async with channel(ws, "room"):
            while True:
                await ws.receive_text()""",
    "a disconnect that is raised": "raise WebSocketDisconnect(1013)",
    "a disconnect within a channel": """\
        async with channel(ws, "room"):
            raise WebSocketDisconnect(1013)""",
    "a disconnect in a nursery": """\
        async with trio.open_nursery():
            raise WebSocketDisconnect(1013)""",
    "a handler that is cancelled": "await trio.sleep_forever()",
}


async def test_nothing_of_a_websocket_waits_for_the_garbage_collector(tmp_path: Path) -> None:
    imports = f"{IMPORTS}from fx.realtime import channel\n"
    imports += f"from starlette.websockets import {WebSocketDisconnect.__name__}\n\n"
    for number, handler in enumerate(HANDLERS.values()):
        body = f'loaded = Loaded(text="a text")\nawait ws.accept()\n{dedent(handler)}'
        text = f"{imports}async def websocket(ws):\n{indent(body, '    ')}{UI}"
        write_tree(tmp_path, {f"pages/n{number}.fxl": text})
    retained = set()
    async with open_app(tmp_path) as client:
        for number, what in enumerate(HANDLERS):
            with no_garbage_collection():
                LOADED.clear()
                async with client.websocket(f"/n{number}"):
                    await trio.testing.wait_all_tasks_blocked()
                await trio.testing.wait_all_tasks_blocked()
                assert len(LOADED) == 1
                if LOADED[0]() is not None:
                    retained.add(what)
    assert retained == set()


ACTIONS = {
    "an ActionError": 'raise ActionError("no")',
    "a streamed action that ends": "yield 1",
    "one that fails": 'yield 1\nawait trio.sleep(0)\nraise ActionError("no")',
    "one with a defect": "yield 1\nraise RuntimeError('a defect')",
    "one whose client leaves": "yield 1\nawait trio.sleep_forever()",
    "one whose client leaves a nursery": """\
        async with trio.open_nursery() as nursery:
            nursery.start_soon(trio.sleep_forever)
            yield 1
            await trio.sleep_forever()""",
    "one whose value comes too late": "yield 1\nawait trio.sleep(3600)",
    "one that yields in a timeout": """\
        for _ in range(3):
            with trio.move_on_after(1):
                yield "x" * 100_000""",
}


@pytest.mark.parametrize("kind", ["action", "stream"])
async def test_nothing_of_a_stream_waits_for_the_garbage_collector(
    tmp_path: Path, autojump_clock: trio.testing.MockClock, kind: str
) -> None:
    functions = {}
    for number, body in enumerate(ACTIONS.values()):
        if "yield" in body or kind == "action":
            functions[f"n{number}"] = indent(f"request.state.of = Loaded()\n{dedent(body)}", "    ")
    imports = f"{IMPORTS}from fx.runtime import stream\n\n"
    text = "\n\n".join(f"@{kind}\nasync def {one}(request):\n{functions[one]}" for one in functions)
    write_tree(tmp_path, {"pages/index.fxl": f"{imports}{text}{UI}"})
    left = [name for name in functions if "forever" in functions[name]]
    retained = set()
    async with open_app(tmp_path) as client:
        for name in functions:
            method, url = ("POST" if kind == "action" else "GET"), f"/api/__{kind}s/index/{name}"
            with no_garbage_collection():
                LOADED.clear()
                async with client.stream(method, url) as response:
                    with trio.move_on_after(5 if name in left or kind == "stream" else 3600):
                        async for _ in response:
                            pass
                await trio.testing.wait_all_tasks_blocked()
                assert len(LOADED) == 1
                if LOADED[0]() is not None:
                    retained.add(list(ACTIONS)[int(name.removeprefix("n"))])
    assert retained == set()
