"""The files that are open in the editor, as they stand there, and the projects they belong to."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote, urlsplit

import attrs
from pygls.exceptions import JsonRpcInvalidParams
from pygls.workspace import TextDocument

from fxtrio.config import CONFIG_FILE

PAGE_SUFFIX = ".fxl"


@attrs.frozen
class Document:
    """One version of an open file."""

    uri: str
    """As the editor writes it."""

    file: Path
    version: int | None
    text: str


class Documents:
    """The newest version of each open file, by its path."""

    def __init__(self) -> None:
        self._open: dict[Path, Document] = {}

    def __iter__(self) -> Iterator[Document]:
        return iter(tuple(self._open.values()))

    def get(self, file: Path) -> Document | None:
        """Return an open file; None when it is not open."""
        return self._open.get(file)

    def at(self, uri: str) -> Document:
        """Return the file that a request is about. Raises JsonRpcInvalidParams."""
        file = file_of(uri)
        document = None if file is None else self._open.get(file)
        if document is None:
            raise JsonRpcInvalidParams(f"{uri} is not open")
        return document

    def take(self, text: TextDocument) -> Document | None:
        """Store a file as it is now; None for a document that is on no disk."""
        file = file_of(text.uri)
        if file is None:
            return None
        document = self._open[file] = Document(text.uri, file, text.version, text.source)
        return document

    def closed(self, uri: str) -> Path | None:
        """Forget a file; returns which one it was."""
        file = file_of(uri)
        if file is not None:
            self._open.pop(file, None)
        return file


def file_of(uri: str) -> Path | None:
    """Return the file of a ``file:`` URI; None for any other."""
    parts = urlsplit(uri)
    return Path(unquote(parts.path)) if parts.scheme == "file" else None


def project_of(file: Path, folders: tuple[Path, ...]) -> Path:
    """Return the project folder of a page file.

    That is the nearest folder around it with settings, or else the one around its nearest
    ``pages``, the folder that the editor has open, or its own.
    """
    around = file.parents
    for folder in around:
        if (folder / CONFIG_FILE).is_file():
            return folder
    for folder in around:
        if folder.name == "pages":
            return folder.parent
    return next((folder for folder in folders if folder in around), file.parent)
