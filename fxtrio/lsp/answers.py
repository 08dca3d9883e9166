"""What an editor asks about a place in a page file, answered across the two halves."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from fxtrio.lsp.analyst import Analyst, Use
from fxtrio.lsp.completion import completions
from fxtrio.lsp.documents import Document, Documents
from fxtrio.lsp.hover import hover_text
from fxtrio.lsp.knowledge import Knowledge
from fxtrio.lsp.page import PageView
from fxtrio.lsp.places import Places, Position, places_of
from fxtrio.lsp.renaming import Edits, check_name, check_renamable, edits_of, refuse_rename
from fxtrio.lsp.sites import NamingPlace, ProjectLook, definitions_of, sites_of
from fxtrio.lsp.things import ActionThing, Setting, Thing, thing_at
from fxtrio.lsp.views import Views, read_text_of


class Answers:
    """Answers from what is known of a project, and from the file as it is being written."""

    def __init__(
        self, documents: Documents, views: Views, analyst: Analyst, knowledge: Knowledge
    ) -> None:
        self._documents = documents
        self._views = views
        self._analyst = analyst
        self._knowledge = knowledge

    async def completion(self, document: Document, position: Position) -> list[dict[str, Any]]:
        """Return what may be written at a position."""
        setting = await self._setting(document)
        if setting is None:
            return []
        wanted = await self._analyst.wanted(setting.view, position)
        return [] if wanted is None else completions(setting, wanted)

    async def hover(self, document: Document, position: Position) -> dict[str, Any] | None:
        """Return what is known of what stands at a position."""
        setting, thing = await self._thing(document, position)
        if setting is None or thing is None:
            return None
        home = await self._home(setting, thing)
        text = hover_text(setting, thing, home)
        if text is None:
            return None
        return {"contents": {"kind": "markdown", "value": text}, "range": thing.range}

    async def definition(self, document: Document, position: Position) -> list[dict[str, Any]]:
        """Return where what stands at a position is defined."""
        setting, thing = await self._thing(document, position)
        if setting is None or thing is None:
            return []
        return _locations(await definitions_of(thing, setting, self._around(setting.view.root)))

    async def references(self, document: Document, position: Position) -> list[dict[str, Any]]:
        """Return all places that name what stands at a position."""
        setting, thing = await self._thing(document, position)
        if setting is None or thing is None:
            return []
        return _locations(await sites_of(thing, setting, self._around(setting.view.root)))

    async def prepare_rename(self, document: Document, position: Position) -> dict[str, Any]:
        """Return the name at a position. Raises RequestRefused when it cannot be changed."""
        _, thing = await self._thing(document, position)
        found = check_renamable(thing)
        return {"range": found.range, "placeholder": found.name}

    async def rename(self, document: Document, position: Position, new: str) -> dict[str, Edits]:
        """Return the edits that rename what stands at a position, in all files.

        Raises RequestRefused when not every place that has the name is known.
        """
        setting, thing = await self._thing(document, position)
        found = check_renamable(thing)
        assert setting is not None  # it has the thing
        home = await self._home(setting, found) or setting.view
        check_name(found, new, setting, home)
        sites = await sites_of(found, setting, self._around(setting.view.root))
        defined = [site for site in sites if site.is_definition]
        expected = 1 if isinstance(found, ActionThing) else len({key.place for key in found.keys})
        if len(defined) != expected:
            raise refuse_rename(f"{found.name!r} has moved since the last save: save the file.")
        attribute = next((site for site in defined if site.is_attribute), None)
        if attribute is not None:
            raise refuse_rename(
                f"{found.name!r} is an attribute of a class in {attribute.file.name}, which other "
                "Python code may use: rename it with a language server for Python."
            )
        return {"changes": edits_of(sites, new)}

    async def _setting(self, document: Document) -> Setting | None:
        view = await self._views.of(document)
        if view is None:
            return None
        await self._knowledge.wait_first(view.root)
        return self._setting_of(view)

    def _setting_of(self, view: PageView) -> Setting:
        types = self._knowledge.page(view.root, view.path)
        return Setting(view, types, self._knowledge.of(view.root))

    async def _thing(
        self, document: Document, position: Position
    ) -> tuple[Setting | None, Thing | None]:
        setting = await self._setting(document)
        if setting is None:
            return None, None
        uses = await self._views.uses(document, setting.view)
        return setting, thing_at(setting, uses, position)

    async def _home(self, setting: Setting, thing: Thing) -> PageView | None:
        """Return the file that has an action."""
        if not isinstance(thing, ActionThing):
            return None
        found = await self._source_setting(setting.view.root, thing.source)
        return None if found is None else found.view

    def _around(self, root: Path) -> ProjectLook:
        return ProjectLook(partial(self._source_setting, root), self._uses, self._places)

    async def _source_setting(self, root: Path, source: str) -> Setting | None:
        file = root / source
        document = self._documents.get(file)
        if document is not None:
            return await self._setting(document)
        text = await read_text_of(file)
        return self._setting_of(await self._views.look(file, text)) if text else None

    async def _uses(self, view: PageView) -> tuple[Use, ...]:
        document = self._documents.get(view.root / view.path)
        if document is not None:
            return await self._views.uses(document, view)
        return await self._analyst.uses(view) or ()

    async def _places(self, file: Path) -> Places:
        document = self._documents.get(file)
        return places_of(await read_text_of(file) if document is None else document.text)


def _locations(sites: list[NamingPlace]) -> list[dict[str, Any]]:
    return [{"uri": site.file.as_uri(), "range": site.range} for site in sites]
