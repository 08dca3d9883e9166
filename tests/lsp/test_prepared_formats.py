from __future__ import annotations

from pathlib import Path

import pytest
import trio
from pygls.exceptions import JsonRpcException
from pygls.workspace import TextDocument
from trio.testing import wait_all_tasks_blocked

from fxtrio.tools.lsp.answers.prepared_formats import PreparedFormats
from fxtrio.tools.lsp.documents.documents import Document, Documents


class Formats:
    """What was formatted, while nobody waits for anything."""

    def __init__(self, root: Path, *, has_prettier: bool = True) -> None:
        self.root = root
        self.texts: list[str] = []
        self.documents = Documents()
        self.idle = trio.Event()
        self.waits = 0
        self.prepared = PreparedFormats(
            self.documents, lambda file: root, self._wait_idle, self._format
        )
        package = root / "node_modules" / "prettier" / "package.json"
        if has_prettier:
            package.parent.mkdir(parents=True)
            package.touch()

    async def _wait_idle(self, root: Path) -> None:
        self.waits += 1
        await self.idle.wait()

    async def _format(self, document: Document) -> None:
        await trio.lowlevel.checkpoint()
        self.texts.append(document.text)
        if "broken" in document.text:
            raise JsonRpcException("prettier has failed")

    def write(self, name: str, text: str) -> Path:
        """Have a file open with a text."""
        document = self.documents.take(TextDocument((self.root / name).as_uri(), text, 1))
        assert document is not None
        return document.file

    def open(self, name: str, text: str) -> Path:
        """Open a file."""
        file = self.write(name, text)
        self.prepared.opened(file)
        return file


async def test_a_page_is_formatted_once_nobody_waits(tmp_path: Path, nursery: trio.Nursery) -> None:
    formats = Formats(tmp_path)
    nursery.start_soon(formats.prepared.run)
    formats.open("a.fxl", "old")
    formats.open("b.fxl", "broken")
    formats.open("d.fxl", "last")
    await wait_all_tasks_blocked()
    assert formats.texts == []

    closed = formats.open("c.fxl", "closed")
    formats.documents.closed(closed.as_uri())
    formats.write("a.fxl", "new")
    formats.idle.set()
    while len(formats.texts) < 3:
        await trio.lowlevel.checkpoint()
    await wait_all_tasks_blocked()

    assert formats.texts == ["new", "broken", "last"]


async def test_nothing_is_prepared_where_prettier_would_be_downloaded(
    tmp_path: Path, nursery: trio.Nursery, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    formats = Formats(tmp_path, has_prettier=False)
    formats.idle.set()
    nursery.start_soon(formats.prepared.run)

    formats.open("a.fxl", "text")
    formats.open("b.fxl", "text")
    while formats.waits < 2:  # the first one is done
        await trio.lowlevel.checkpoint()

    assert formats.texts == []
