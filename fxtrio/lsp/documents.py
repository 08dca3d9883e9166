"""The files that are open in the editor, as they stand there, and the projects they belong to."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import attrs

from fxtrio.config import CONFIG_FILE
from fxtrio.lsp.places import edited
from fxtrio.lsp.rpc import INVALID_PARAMS, RequestRefused

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
    """All open files, by their path. A change of a file that is not open is refused."""

    def __init__(self) -> None:
        self._open: dict[Path, Document] = {}

    def __iter__(self) -> Iterator[Document]:
        return iter(tuple(self._open.values()))

    def get(self, file: Path) -> Document | None:
        """Return an open file; None when it is not open."""
        return self._open.get(file)

    def at(self, params: Any) -> Document:
        """Return the file that a request is about. Raises RequestRefused."""
        document = self._open.get(path_of(_uri(params)))
        if document is None:
            raise RequestRefused(INVALID_PARAMS, f"{_uri(params)} is not open")
        return document

    def opened(self, params: Any) -> Document:
        """Take a ``textDocument/didOpen``."""
        uri, item = _uri(params), params["textDocument"]
        document = Document(uri, path_of(uri), item.get("version"), str(item.get("text", "")))
        self._open[document.file] = document
        return document

    def changed(self, params: Any) -> Document:
        """Take a ``textDocument/didChange``."""
        before = self.at(params)
        text = edited(before.text, params.get("contentChanges") or [])
        version = params["textDocument"].get("version")
        after = self._open[before.file] = attrs.evolve(before, text=text, version=version)
        return after

    def closed(self, params: Any) -> Path:
        """Take a ``textDocument/didClose``; returns which file it was."""
        file = path_of(_uri(params))
        self._open.pop(file, None)
        return file


def path_of(uri: str) -> Path:
    """Return the file of a ``file:`` URI. Raises RequestRefused for any other."""
    parts = urlsplit(uri)
    if parts.scheme != "file":
        raise RequestRefused(INVALID_PARAMS, f"{uri} is no file")
    return Path(unquote(parts.path))


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


def _uri(params: Any) -> str:
    document = params.get("textDocument") if isinstance(params, dict) else None
    uri = document.get("uri") if isinstance(document, dict) else None
    if not isinstance(uri, str):
        raise RequestRefused(INVALID_PARAMS, "there is no textDocument with a uri")
    return uri
