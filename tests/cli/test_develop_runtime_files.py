"""The client runtime is sent by the process that serves, also while Node does something else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from trio.testing import MockClock

from fxtrio.develop.report.request_logs import Records
from fxtrio.develop.vite.runtime_files import RuntimeFiles
from fxtrio.develop.vite.vite_proxy import Modules

FOLDER = ".fx/dev/runtime/0123456789abcdef"
CODE = b"export const a = 1;\n"


@pytest.fixture
def modules(tmp_path: Path) -> Modules:
    """What answers for a project without Node."""
    (tmp_path / FOLDER).mkdir(parents=True)
    for name in ("main.js", "renders.cjs"):
        (tmp_path / FOLDER / name).write_bytes(CODE)
    (tmp_path / ".fx/dev/runtime/main.js").write_bytes(CODE)
    return Modules(tmp_path / "none", Records(tmp_path), RuntimeFiles(tmp_path, "/app"))


async def answer(
    modules: Modules, path: str, *, method: str = "GET", query: bytes = b""
) -> tuple[int, dict[bytes, bytes], bytes]:
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {
        **{"type": "http", "method": method, "path": path, "raw_path": path.encode()},
        **{"query_string": query, "headers": []},
    }
    await modules.answer(scope, send)
    start, body = sent
    return start["status"], dict(start["headers"]), body["body"]


async def test_a_file_of_the_runtime_is_sent_without_node_and_forever(modules: Modules) -> None:
    status, headers, body = await answer(modules, f"/app/_fx/{FOLDER}/main.js")

    assert (status, body) == (200, CODE)
    assert headers == {
        b"content-type": b"text/javascript; charset=utf-8",
        b"cache-control": b"public, max-age=31536000, immutable",
        b"content-length": b"%d" % len(CODE),
        b"x-content-type-options": b"nosniff",
    }

    status, same, body = await answer(modules, f"/app/_fx/{FOLDER}/main.js", method="HEAD")

    assert (status, same, body) == (200, headers, b"")


@pytest.mark.parametrize(
    "path",
    [
        f"/app/_fx/{FOLDER}/absent.js",
        f"/app/_fx/{FOLDER}/renders.cjs",
        f"/app/_fx/{FOLDER}/../0123456789abcdef/main.js",
        "/app/_fx/.fx/dev/runtime/main.js",
        f"/app/_fx//{FOLDER}/main.js",
        f"/_fx/{FOLDER}/main.js",
    ],
)
async def test_all_other_files_are_requested_from_node(
    modules: Modules, path: str, autojump_clock: MockClock
) -> None:
    status, _, _ = await answer(modules, path)

    assert status == 502


async def test_a_file_with_a_query_is_requested_from_node(
    modules: Modules, autojump_clock: MockClock
) -> None:
    status, _, _ = await answer(modules, f"/app/_fx/{FOLDER}/main.js", query=b"t=1")

    assert status == 502
