"""The newest analysis of each open page file, shared by all questions about it."""

from __future__ import annotations

from pathlib import Path

import attrs
import trio

from fxtrio.tools.lsp.documents.documents import PAGE_SUFFIX, Document, Documents, project_of
from fxtrio.tools.lsp.documents.page import ParsedPage, parse_page


@attrs.define
class _CachedPage:
    """The analysis of one file."""

    document: Document
    page: ParsedPage


class PageCache:
    """Analyses of the open pages; those of closed ones are dropped."""

    def __init__(self, documents: Documents) -> None:
        self.folders: tuple[Path, ...] = ()
        """What the editor has open."""

        self._documents = documents
        self._pages: dict[Path, _CachedPage] = {}
        self._looking = trio.Lock()

    def root_of(self, file: Path) -> Path:
        """Return the project folder of a file."""
        return project_of(file, self.folders)

    async def of(self, document: Document) -> ParsedPage | None:
        """Return a page, parsed; None for any other file."""
        if document.file.suffix != PAGE_SUFFIX:
            return None
        async with self._looking:
            cached = self._pages.get(document.file)
            if cached is not None and cached.document is document:
                return cached.page
            before = None if cached is None else cached.page
            page = await self.look(document.file, document.text, document.version, before)
            if self._documents.get(document.file) is document:
                self._pages[document.file] = _CachedPage(document, page)
            return page

    async def look(
        self,
        file: Path,
        text: str,
        version: int | None = None,
        before: ParsedPage | None = None,
    ) -> ParsedPage:
        """Parse any text of a page; ``before`` is an earlier one, parsed."""
        root = self.root_of(file)
        path = file.relative_to(root).as_posix()
        return await trio.to_thread.run_sync(parse_page, root, path, text, version, before)

    def forget(self, file: Path) -> None:
        """Forget a file that was closed."""
        self._pages.pop(file, None)


async def read_text_of(file: Path) -> str:
    """Return the text of a file as far as it is there: "" for a folder, or for none."""
    try:
        data = await trio.Path(file).read_bytes()
    except OSError:
        return ""
    return data.decode("utf-8-sig", "replace")
