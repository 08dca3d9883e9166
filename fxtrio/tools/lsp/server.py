"""The server of one editor as pygls has it: its life cycle, its capabilities, its open files.

What pygls does otherwise than editors is put right here: places count UTF-16 units, and lines
end where editors end them.
"""

from __future__ import annotations

import logging
from collections.abc import Generator
from importlib.metadata import version
from typing import Any

from lsprotocol import types
from pygls.exceptions import FeatureNotificationError
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol, default_converter
from pygls.protocol.language_server import lsp_method
from pygls.workspace import TextDocument, Workspace

from fxtrio.tools.lsp.documents.positions import edited, position_in
from fxtrio.tools.lsp.rpc import TrioProtocol

log = logging.getLogger("fx.lsp")


class EditedText(TextDocument):
    """An open file. Only ``\\n``, ``\\r\\n`` and ``\\r`` end a line, as in editors.

    pygls takes a form feed or U+2028 for an end, too, so that edits behind one would land
    elsewhere, and misplaces positions behind the end of a last line.
    """

    def apply_change(self, change: types.TextDocumentContentChangeEvent) -> None:
        """Make a change; one without a range is the whole text."""
        if isinstance(change, types.TextDocumentContentChangePartial):
            ends = {"start": position_in(change.range.start), "end": position_in(change.range.end)}
            self._source = edited(self.source, ends, change.text)
        else:
            self._source = change.text


class EditorWorkspace(Workspace):
    """The files and folders that the editor has open."""

    def _create_text_document(
        self,
        doc_uri: str,
        source: str | None = None,
        version: int | None = None,
        language_id: str | None = None,
    ) -> TextDocument:
        return EditedText(doc_uri, source, version, language_id)


class EditorProtocol(TrioProtocol, LanguageServerProtocol):
    """The protocol of an editor."""

    @property
    def was_shut_down(self) -> bool:
        """Whether the editor has sent ``shutdown``."""
        return self._shutdown

    @lsp_method(types.INITIALIZE)
    def lsp_initialize(
        self, params: types.InitializeParams
    ) -> Generator[Any, Any, types.InitializeResult]:
        """Answer with what the server can do. Every editor knows UTF-16."""
        if params.capabilities.general is not None:
            params.capabilities.general.position_encodings = None
        steps = super().lsp_initialize(params)
        step = next(steps)  # the handler of the session; the workspace is there before it
        folders = params.workspace_folders or []
        self._workspace = EditorWorkspace(self.workspace.root_uri, workspace_folders=folders)
        yield step
        result: types.InitializeResult = yield from steps
        return result

    @lsp_method(types.EXIT)
    def lsp_exit(self, *args: Any) -> Generator[Any, Any, None]:
        """Read no further message, so that `serve` ends."""
        self.leaving.set()
        yield from ()


class EditorServer(LanguageServer):
    """Answers with the handlers registered by ``feature``."""

    protocol: EditorProtocol

    def __init__(self) -> None:
        super().__init__(
            "fx lsp",
            version("fxtrio"),
            protocol_cls=EditorProtocol,
            converter_factory=default_converter,
        )

    def report_server_error(self, error: Exception, source: type[Exception]) -> None:
        """Log what pygls has not: no editor has to interrupt its user for a defect here."""
        if source is FeatureNotificationError:
            log.error("%s", error)
