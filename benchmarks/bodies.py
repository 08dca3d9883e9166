"""How long hostile bodies hold up the event loop: `python -m benchmarks.bodies [MB]`.

Each body goes to an action of an app in this process, while a task wakes up each
millisecond. The longest time between two wakings is what other requests wait.
"""

from __future__ import annotations

import gc
import sys
import tempfile
from pathlib import Path
from textwrap import dedent
from time import perf_counter

import attrs
import trio

from fx.testing import Client, open_app

PAGE = """
import attrs
from pydantic import BaseModel

@attrs.frozen
class Numbers:
    items: list[int]

@attrs.frozen
class Node:
    items: list["Node"] = []

class Basket(BaseModel):
    items: list[int]

@action
async def numbers(request, body: Numbers):
    return {}

@action
async def nodes(request, body: Node):
    return {}

@action
async def basket(request, body: Basket):
    return {}

@action
async def values(request):
    await request.json()
    return {}

export default function Index() { return <p /> }
"""
JSON = "application/json"
FORM = "application/x-www-form-urlencoded"
MULTIPART = "multipart/form-data; boundary=b"
MOST_VALUES = 100_000


def _repeated(begin: bytes, piece: bytes, end: bytes, size: int) -> bytes:
    return begin + piece * ((size - len(begin) - len(end)) // len(piece)) + end


def _wide(begin: bytes, piece: bytes, size: int) -> bytes:
    """Return as many values as a body may have, filled up with spaces."""
    body = begin + piece * (MOST_VALUES - 10) + b"1]}"
    return body + b" " * (size - len(body))


def hostile(size: int) -> dict[str, tuple[str, str, bytes]]:
    """Return bodies of ``size`` bytes by name: the action, the content type and the bytes."""
    part = b'--b\r\nContent-Disposition: form-data; name="a"\r\n\r\n'
    file = part[:-4] + b'; filename="a"\r\n\r\n'
    field = b"a=" + b"%zz" * 300_000 + b"&"
    valid = b"a=" + b"%41" * 300_000 + b"&"
    parts = (part + b"v\r\n") * 900
    return {
        "[1, 1, …] beyond the bound": ("values", JSON, _repeated(b"[", b"1,", b"1]", size)),
        "[[], [], …] beyond the bound": ("values", JSON, _repeated(b"[", b"[],", b"1]", size)),
        "quotes": ("values", JSON, _repeated(b"", b'"', b"", size)),
        "one text of escapes": ("values", JSON, _repeated(b'"', b"\\u00e4", b'"', size)),
        "brackets in a text": ("values", JSON, _repeated(b'"', b"[{,", b'"', size)),
        "wrong items, attrs": ("numbers", JSON, _wide(b'{"items":[', b'"x",', size)),
        "wrong items, pydantic": ("basket", JSON, _wide(b'{"items":[', b'"x",', size)),
        "right items, attrs": ("numbers", JSON, _wide(b'{"items":[', b"1,", size)),
        "right items, pydantic": ("basket", JSON, _wide(b'{"items":[', b"1,", size)),
        "objects, attrs": ("nodes", JSON, _wide(b'{"items":[', b"{},", size)),
        "%zz": ("values", FORM, field * (size // len(field)) + b"a=1"),
        "%41": ("values", FORM, valid * (size // len(valid)) + b"a=1"),
        "&": ("values", FORM, b"&" * size),
        "parts": ("values", MULTIPART, parts + b"--b--"),
        "parts of headers": (
            "values",
            MULTIPART,
            (part[:-4] + b"\r\nX: " + b"y" * 4000 + b"\r\n\r\nv\r\n") * min(900, size // 4100)
            + b"--b--",
        ),
        "parts of parameters": (
            "values",
            MULTIPART,
            (part[:-4] + b";a" * 99 + b"\r\n\r\nv\r\n") * min(900, size // 300) + b"--b--",
        ),
        "near boundaries": ("values", MULTIPART, _repeated(file, b"\r\n--a", b"\r\n--b--", size)),
        "line ends": ("values", MULTIPART, _repeated(file, b"\r", b"\r\n--b--", size)),
        "one file": ("values", MULTIPART, _repeated(file, b"x", b"\r\n--b--", size)),
    }


@attrs.define
class Heart:
    """Beats each millisecond."""

    longest: float = 0.0
    """Between two beats (seconds)."""

    async def run(self) -> None:
        """Beat until cancelled."""
        last = perf_counter()
        while True:
            await trio.sleep(0.001)
            now = perf_counter()
            self.longest = max(self.longest, now - last)
            last = now


async def _measure(client: Client, name: str, case: tuple[str, str, bytes]) -> None:
    action, content_type, body = case
    gc.collect()
    heart = Heart()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(heart.run)
        await trio.sleep(0.01)
        heart.longest = 0.0
        begun = perf_counter()
        response = await client.post(
            f"/api/__actions/index/{action}", content=body, headers={"content-type": content_type}
        )
        took = perf_counter() - begun
        await trio.sleep(0.01)
        nursery.cancel_scope.cancel()
    size = len(body) / 1e6
    print(
        f"{name:30} {size:6.2f} MB {response.status} {took * 1e3:8.0f} {heart.longest * 1e3:8.1f}"
    )


async def main(megabytes: float) -> None:
    """Print a line for each body: its size, the status, and both times in ms."""
    with tempfile.TemporaryDirectory() as folder:
        pages = trio.Path(folder, "pages")
        await pages.mkdir()
        await (pages / "index.fxl").write_text(dedent(PAGE))
        async with open_app(Path(folder)) as client:
            print(f"{'body':30} {'size':>9}        {'took ms':>8} {'stall ms':>8}")
            for name, case in hostile(int(megabytes * 1_000_000)).items():
                await _measure(client, name, case)


if __name__ == "__main__":
    trio.run(main, float(sys.argv[1]) if len(sys.argv) > 1 else 1.0)
