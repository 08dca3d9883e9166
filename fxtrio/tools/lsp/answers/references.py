"""All places of a project that name one thing, in both halves of all its pages."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import attrs

from fxtrio.tools.lsp.answers.data_paths import keys_at
from fxtrio.tools.lsp.answers.symbols import (
    ActionThing,
    KeyThing,
    Setting,
    Thing,
    keys_of,
    places_of_keys,
    thing_of,
)
from fxtrio.tools.lsp.documents.name_ranges import Spot, action_spots, data_subscripts, key_spot
from fxtrio.tools.lsp.documents.page import ParsedPage
from fxtrio.tools.lsp.documents.positions import Places, Range
from fxtrio.tools.lsp.processes.ui_analysis import Use
from fxtrio.tools.types.python.shapes import Key, Place


@attrs.frozen
class NamingPlace:
    """A place that names a thing."""

    file: Path
    range: Range
    is_definition: bool = False
    shorthand: bool = False
    """Whether the name is a variable's, too: ``{ posts }``."""

    is_attribute: bool = False
    """Whether it is an attribute of a Python class, which other Python code may use."""


@attrs.frozen(eq=False)
class ProjectLook:
    """Looks into the files of a project, as they are open or saved."""

    setting: Callable[[str], Awaitable[Setting | None]]
    """The setting of a source; None when it cannot be read."""

    uses: Callable[[ParsedPage, str], Awaitable[tuple[Use, ...]]]
    """What a UI half names by a name."""

    places: Callable[[Path], Awaitable[Places]]
    """The lines of any file."""


async def sites_of(thing: Thing, setting: Setting, around: ProjectLook) -> list[NamingPlace]:
    """Return all places that name a key or an action, the definitions first."""
    if isinstance(thing, KeyThing):
        found = [site async for site in _key_sites(thing, setting, around)]
    elif isinstance(thing, ActionThing):
        found = [site async for site in _action_sites(thing, setting, around)]
    else:
        found = []
    return list({(site.file, str(site.range)): site for site in found}.values())


async def definitions_of(thing: Thing, setting: Setting, around: ProjectLook) -> list[NamingPlace]:
    """Return where a thing is defined."""
    root = setting.page.root
    if isinstance(thing, KeyThing):
        return [site async for site in _written(thing.keys, setting, around)]
    other = await around.setting(thing.source)
    if other is None:
        return []
    if isinstance(thing, ActionThing):
        return [_site(root, spot, True) for spot in action_spots(other.page, thing.name)[:1]]
    return [NamingPlace(root / thing.source, other.page.places.range(0, 0), is_definition=True)]


async def _written(
    keys: tuple[Key, ...], setting: Setting, around: ProjectLook
) -> AsyncIterator[NamingPlace]:
    """Yield where keys are written in Python."""
    for key in keys:
        if key.place is None:
            continue
        file = setting.page.root / key.place.path
        before = setting.known.halves.get(key.place.path) if setting.known else None
        spot = key_spot(key, await around.places(file), before)
        if spot is not None:
            yield attrs.evolve(_site(setting.page.root, spot, True), is_attribute=not spot.quoted)


async def _key_sites(
    thing: KeyThing, setting: Setting, around: ProjectLook
) -> AsyncIterator[NamingPlace]:
    async for site in _written(thing.keys, setting, around):
        yield site
    targets = places_of_keys(thing.keys)
    for source in _sources_with(targets, setting):
        other = await around.setting(source)
        if other is None:
            continue
        for use in await around.uses(other.page, thing.name):
            if use.kind == "key" and targets & places_of_keys(keys_at(other.types, use.origin)):
                file = other.page.root / source
                yield NamingPlace(file, use.range, shorthand=use.shorthand)
        if targets & places_of_keys(keys_at(other.types, ("data", thing.name))):
            for spot in data_subscripts(other.page, thing.name):
                yield _site(other.page.root, spot, False)


def _sources_with(targets: set[Place], setting: Setting) -> list[str]:
    """Return the files whose UI may name a key that is written at one of ``targets``."""
    pages = () if setting.known is None else setting.known.types.pages
    return [
        page.source
        for page in pages
        if any(key.place in targets for key in keys_of(page) if key.place is not None)
    ]


async def _action_sites(
    thing: ActionThing, setting: Setting, around: ProjectLook
) -> AsyncIterator[NamingPlace]:
    pages = () if setting.known is None else setting.known.project.pages
    for source in dict.fromkeys([thing.source, *(page.module.source for page in pages)]):
        other = await around.setting(source)
        if other is None:
            continue
        if source == thing.source:
            for index, spot in enumerate(action_spots(other.page, thing.name)):
                yield _site(other.page.root, spot, index == 0)
        elif thing.name not in other.page.checked.ui:
            continue
        for use in await around.uses(other.page, thing.name):
            if use.kind != "action" or use.name != thing.name:
                continue
            found = thing_of(other, use)
            if isinstance(found, ActionThing) and found.source == thing.source:
                yield NamingPlace(other.page.root / source, use.range)


def _site(root: Path, spot: Spot, is_definition: bool) -> NamingPlace:
    return NamingPlace(root / spot.path, spot.range, is_definition)
