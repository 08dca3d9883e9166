"""What an editor asks about a place in a page file, answered across the two halves."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import trio

from fxtrio.tools.lsp.answers.completion import completions
from fxtrio.tools.lsp.answers.document_symbols import (
    SavedFiles,
    document_symbols,
    module_symbols,
    project_symbols,
)
from fxtrio.tools.lsp.answers.hover import SERVER_STARTING, STARTING, hover_text, word_at
from fxtrio.tools.lsp.answers.map_results import (
    MapResult,
    as_it_is,
    completion_back,
    edits_back,
    hover_back,
    item_back,
    locations_back,
    name_back,
    word_before,
)
from fxtrio.tools.lsp.answers.quick_fixes import quick_fixes
from fxtrio.tools.lsp.answers.references import NamingPlace, ProjectLook, definitions_of, sites_of
from fxtrio.tools.lsp.answers.renaming import (
    Edits,
    check_name,
    check_renamable,
    crosses,
    edits_of,
    merged,
)
from fxtrio.tools.lsp.answers.symbols import ActionThing, Setting, Thing, thing_at
from fxtrio.tools.lsp.documents.documents import Document, Documents
from fxtrio.tools.lsp.documents.name_ranges import is_typed_dict
from fxtrio.tools.lsp.documents.page import ParsedPage
from fxtrio.tools.lsp.documents.page_cache import PageCache, read_text_of
from fxtrio.tools.lsp.documents.positions import Places, Position, places_of
from fxtrio.tools.lsp.documents.virtual_document import language_at, project
from fxtrio.tools.lsp.processes.delegated_servers import DelegatedServers
from fxtrio.tools.lsp.processes.ui_analysis import Analyst, Use
from fxtrio.tools.lsp.project_index import FIRST_WAIT, ProjectIndex
from fxtrio.tools.lsp.rpc import request_failed

LONGEST_HOVER = FIRST_WAIT + 2.0
"""How long a hover waits for servers that are starting (seconds)."""


class Answers:
    """Answers from the index of a project, and from the text in the editor."""

    def __init__(
        self,
        documents: Documents,
        pages: PageCache,
        analyst: Analyst,
        knowledge: ProjectIndex,
        others: DelegatedServers,
    ) -> None:
        self._documents = documents
        self._pages = pages
        self._analyst = analyst
        self._knowledge = knowledge
        self._others = others
        self._saved = SavedFiles(pages)

    async def completion(self, document: Document, position: Position) -> list[dict[str, Any]]:
        """Return what may be written at a position."""
        setting = await self._setting(document)
        if setting is None:
            return []
        wanted = await self._analyst.wanted(setting.page, position)
        found = [] if wanted is None else completions(setting, wanted)
        if found:
            return found
        page = setting.page
        word = word_before(page.places.line(position["line"]), position["character"])
        back = partial(completion_back, word=word)
        others = await self._others.ask("textDocument/completion", page, position, back)
        language = language_at(page, position["line"])
        source = {"fx": language, "uri": document.uri}
        return [{**one, "data": {**source, "of": one.get("data")}} for one in others or []]

    async def resolve(self, document: Document, item: dict[str, Any]) -> dict[str, Any]:
        """Return an item of a completion with all that is known of it."""
        page = await self._pages.of(document)
        found = None if page is None else await self._others.resolve(page, item)
        if page is None or found is None:
            return item
        known = self._knowledge.of(page.root)
        return item_back({**item, **found}, project(page, item["data"]["fx"], known)) or item

    async def signature(self, document: Document, position: Position) -> Any:
        """Return the parameters of the call that is being written."""
        return await self._elsewhere("textDocument/signatureHelp", document, position, as_it_is)

    async def hover(self, document: Document, position: Position) -> dict[str, Any] | None:
        """Return the description of the symbol at a position, or why there is none yet."""
        with trio.move_on_after(LONGEST_HOVER) as waiting:
            found = await self._hover(document, position)
            if found is not None:
                return found
        return await self._hover_while_starting(
            document, position, timed_out=waiting.cancelled_caught
        )

    async def _hover(self, document: Document, position: Position) -> dict[str, Any] | None:
        setting, thing = await self._thing(document, position)
        text = None
        if setting is not None and thing is not None:
            text = hover_text(setting, thing, await self._home(setting, thing))
        if text is None or thing is None:
            hover: dict[str, Any] | None
            hover = await self._elsewhere("textDocument/hover", document, position, hover_back)
            return hover
        return {"contents": {"kind": "markdown", "value": text}, "range": thing.range}

    async def _hover_while_starting(
        self, document: Document, position: Position, *, timed_out: bool
    ) -> dict[str, Any] | None:
        """Return why nothing is known of a name yet; None where there is no name.

        ``timed_out`` says that a server has not answered in time.
        """
        page = await self._pages.of(document)
        if page is None or not word_at(page.places, position):
            return None
        # Python code has no server of fxtrio's own to wait for.
        is_known = self._knowledge.of(page.root) is not None
        if self._knowledge.is_starting(page.root) and (
            not is_known or page.in_ui(position["line"])
        ):
            return {"contents": {"kind": "markdown", "value": STARTING}}
        return {"contents": {"kind": "markdown", "value": SERVER_STARTING}} if timed_out else None

    async def definition(self, document: Document, position: Position) -> list[dict[str, Any]]:
        """Return where what stands at a position is defined."""
        setting, thing = await self._thing(document, position)
        if setting is not None and thing is not None:
            found = await definitions_of(thing, setting, self._around(setting.page.root))
            if found:
                return _locations(found)
        method = "textDocument/definition"
        return await self._elsewhere(method, document, position, locations_back) or []

    async def references(self, document: Document, position: Position) -> list[dict[str, Any]]:
        """Return all places that name what stands at a position."""
        setting, thing = await self._thing(document, position)
        found = []
        if setting is not None and thing is not None:
            found = _locations(await sites_of(thing, setting, self._around(setting.page.root)))
        more = {"context": {"includeDeclaration": True}}
        method = "textDocument/references"
        others = await self._elsewhere(method, document, position, locations_back, **more)
        return [*found, *(one for one in others or [] if one not in found)]

    async def prepare_rename(self, document: Document, position: Position) -> dict[str, Any]:
        """Return the name at a position. Raises JsonRpcException when it cannot be changed."""
        _, thing = await self._thing(document, position)
        if not crosses(thing):
            method = "textDocument/prepareRename"
            name: dict[str, Any] | None
            name = await self._elsewhere(method, document, position, name_back)
            if name:
                return name
        found = check_renamable(thing)
        return {"range": found.range, "placeholder": found.name}

    async def rename(self, document: Document, position: Position, new: str) -> dict[str, Edits]:
        """Return the edits that rename what stands at a position, in all files.

        Raises JsonRpcException when not every place that has the name is known.
        """
        setting, thing = await self._thing(document, position)
        if not crosses(thing):
            method, more = "textDocument/rename", {"newName": new}
            edit: dict[str, Edits] | None
            edit = await self._elsewhere(method, document, position, edits_back, **more)
            if edit:
                return edit
        found = check_renamable(thing)
        assert setting is not None  # it has the thing
        home = await self._home(setting, found) or setting.page
        check_name(found, new, setting, home)
        sites = await sites_of(found, setting, self._around(setting.page.root))
        defined = [site for site in sites if site.is_definition]
        expected = 1 if isinstance(found, ActionThing) else len({key.place for key in found.keys})
        if len(defined) != expected:
            raise request_failed(f"{found.name!r} has moved since the last save: save the file.")
        edits = [edits_of((site for site in sites if not site.is_attribute), new)]
        for site in defined:
            if site.is_attribute:
                edits.append(await self._attribute_edits(found.name, site, new))
        return {"changes": merged(edits)}

    async def close_tag(self, document: Document, position: Position) -> str | None:
        """Return what closes the tag that was just written in front of a position."""
        page = await self._pages.of(document)
        return None if page is None else await self._analyst.closing(page, position)

    async def closing_edits(
        self, document: Document, position: Position
    ) -> list[dict[str, Any]] | None:
        """Return the same as an edit."""
        closing = await self.close_tag(document, position)
        if closing is None:
            return None
        return [{"range": {"start": position, "end": position}, "newText": closing}]

    async def linked_names(self, document: Document, position: Position) -> dict[str, Any] | None:
        """Return the names of the two tags of an element, which are changed together."""
        page = await self._pages.of(document)
        found = None if page is None else await self._analyst.linked(page, position)
        return None if found is None else {"ranges": found}

    async def outline(self, document: Document) -> list[dict[str, Any]]:
        """Return what a page declares."""
        page = await self._pages.of(document)
        return [] if page is None else await document_symbols(page, self._analyst)

    async def search(self, query: str) -> list[dict[str, Any]]:
        """Return pages, and what they and components declare, with the letters of ``query``."""
        found = []
        for root in self._knowledge.roots:
            known = self._knowledge.of(root)
            if known is not None:
                patterns = {source: pattern for pattern, source in known.sources.items()}
                pages = await self._saved.pages_of(root, known.numbers)
                found += await project_symbols(query, pages, self._analyst, patterns)
                modules = await self._saved.modules_of(root, self._analyst)
                found += module_symbols(query, root, modules)
        return found

    async def fixes(
        self, document: Document, diagnostics: list[dict[str, Any]]
    ) -> list[dict[str, Any]]:
        """Return edits that remove diagnostics of a file."""
        page = await self._pages.of(document)
        if page is None:
            return []
        return await trio.to_thread.run_sync(quick_fixes, page, document.uri, diagnostics)

    async def _attribute_edits(self, name: str, site: NamingPlace, new: str) -> Edits:
        """Return the edits of Python code that rename an attribute of a class."""
        document = self._documents.get(site.file)
        page = None if document is None else await self._pages.of(document)
        edit = None
        if page is not None and is_typed_dict(page.checked.python, site.range["start"]["line"]):
            raise request_failed(
                f"{name!r} is a key of a TypedDict, which Python code names as text: nobody "
                "knows all places."
            )
        if document is not None:
            start, more = site.range["start"], {"newName": new}
            method = "textDocument/rename"
            edit = await self._elsewhere(method, document, start, edits_back, **more)
        if not edit:
            raise request_failed(
                f"{name!r} is an attribute of a class in {site.file.name}, which other Python "
                "code may use: a language server for Python renames it (option 'python')."
            )
        changes: Edits = edit["changes"]
        return changes

    async def _elsewhere(
        self, method: str, document: Document, position: Position, back: MapResult, **more: Any
    ) -> Any:
        """Return what the server of the language at a position answers; None without one."""
        page = await self._pages.of(document)
        if page is None:
            return None
        return await self._others.ask(method, page, position, back, **more)

    async def _setting(self, document: Document) -> Setting | None:
        page = await self._pages.of(document)
        if page is None:
            return None
        await self._knowledge.wait_first(page.root)
        return self._setting_of(page)

    def _setting_of(self, page: ParsedPage) -> Setting:
        types = self._knowledge.page(page.root, page.path)
        return Setting(page, types, self._knowledge.of(page.root))

    async def _thing(
        self, document: Document, position: Position
    ) -> tuple[Setting | None, Thing | None]:
        setting = await self._setting(document)
        if setting is None:
            return None, None
        uses = await self._analyst.uses(setting.page, position=position)
        return setting, thing_at(setting, uses or (), position)

    async def _home(self, setting: Setting, thing: Thing) -> ParsedPage | None:
        """Return the file that has an action."""
        if not isinstance(thing, ActionThing):
            return None
        found = await self._source_setting(setting.page.root, thing.source)
        return None if found is None else found.page

    def _around(self, root: Path) -> ProjectLook:
        return ProjectLook(partial(self._source_setting, root), self._uses, self._places)

    async def _source_setting(self, root: Path, source: str) -> Setting | None:
        file = root / source
        document = self._documents.get(file)
        if document is not None:
            return await self._setting(document)
        text = await read_text_of(file)
        return self._setting_of(await self._pages.look(file, text)) if text else None

    async def _uses(self, page: ParsedPage, name: str) -> tuple[Use, ...]:
        return await self._analyst.uses(page, name=name) or ()

    async def _places(self, file: Path) -> Places:
        document = self._documents.get(file)
        return places_of(await read_text_of(file) if document is None else document.text)


def _locations(sites: list[NamingPlace]) -> list[dict[str, Any]]:
    return [{"uri": site.file.as_uri(), "range": site.range} for site in sites]
