"""`.fx/types`: the virtual files of UI halves, their declarations, their metadata as JSON.

Written by `fx dev`, `fx build` and `fx typecheck`; a file whose text stays is left alone, so
that compilers and editors see what has changed.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path

import attrs
import msgspec

from fxtrio.build_folder import UNUSABLE, require_no_link
from fxtrio.compile.checked_page import CheckedPage
from fxtrio.compile.project import CheckedProject
from fxtrio.tools.types.gather.page_types import PageTypes, ProjectTypes, dump_types
from fxtrio.tools.types.ui.client_types import (
    Tier,
    app_module,
    module_name,
    page_module,
    shared_module,
    shared_name,
)
from fxtrio.tools.types.ui.compiler_settings import build_info, compiler_settings
from fxtrio.tools.types.ui.declaration_files import DeclarationFiles
from fxtrio.tools.types.ui.path_tree import routes_module
from fxtrio.tools.types.ui.socket_types import sockets_module
from fxtrio.tools.types.ui.source.component_files import (
    TYPED_SUFFIXES,
    ComponentFiles,
    FoundFiles,
    tags_of_imports,
)
from fxtrio.tools.types.ui.source.component_props import (
    REFUTED,
    ImportedTags,
    OwnComponent,
    Use,
    own_components,
)
from fxtrio.tools.types.ui.source.jsx_positions import UiPlaces, read_places
from fxtrio.tools.types.ui.text_files import TextFiles, write_text
from fxtrio.tools.types.ui.types_by_path import elsewhere_module, loaded_module
from fxtrio.tools.types.ui.virtual_ui import VirtualUi, virtual_ui

FOLDER = Path(".fx/types")
"""Relative to the project folder."""

FACTS = "types.json"
"""What `dump_types` gives."""

_TYPED = "typed.json"
"""Digests of halves that write types, so that the next run knows it at once."""

_OWN = "own.json"
"""What own components get, so that the next run knows it at once."""

COMPONENT = -1


@attrs.frozen(eq=False)
class UiHalf:
    """One UI half, read."""

    page: CheckedPage
    types: PageTypes
    number: int
    """In its project; `COMPONENT` for a file that is no page."""

    places: UiPlaces
    exports: Mapping[str, str] | None = None
    """Of a file that is no page; see `exported_names`."""

    def is_of(self, page: CheckedPage, types: PageTypes, number: int) -> bool:
        """Return whether it was created from these objects."""
        return self.page is page and self.types is types and self.number == number

    @cached_property
    def is_component(self) -> bool:
        """Whether it is a file that is no page."""
        return self.number == COMPONENT

    @cached_property
    def module(self) -> str:
        """What it imports in place of ``fx/client``."""
        return "fx/client" if self.is_component else module_name(self.number)

    @cached_property
    def source(self) -> str:
        """The `.fxl` file."""
        return self.page.module.source

    @cached_property
    def components(self) -> tuple[OwnComponent, ...]:
        """Its components whose tags are all known."""
        return own_components(self.page.ui, self.places, self.exports)

    @cached_property
    def imported_tags(self) -> ImportedTags:
        """The tags of what it imports."""
        return ImportedTags(self.page.ui, self.places)


_Output = tuple[str, VirtualUi]


@attrs.frozen(eq=False)
class _Input:
    """What the files of a half depend on."""

    half: UiHalf
    places: list[str] | None
    own: Mapping[str, str] | None
    passed: tuple[Use, ...] = ()

    def is_same(self, other: _Input) -> bool:
        """Return whether ``other`` stands for the same files; its half is the same object."""
        mine, its = (self.places, self.own, self.passed), (other.places, other.own, other.passed)
        return self.half is other.half and mine == its


@attrs.frozen(eq=False)
class _DeclarationInput:
    """What the declarations for all halves of a tier depend on."""

    types: ProjectTypes
    others: tuple[str, ...]
    modules: Mapping[str, str]
    """Of the halves, by source; none where no half names the data of others."""

    loads: bool
    """Whether a half loads the data of other pages."""

    def is_same(self, other: _DeclarationInput) -> bool:
        """Return whether ``other`` stands for the same files; its types are the same object."""
        return self.types is other.types and (
            self.others,
            self.modules,
            self.loads,
        ) == (other.others, other.modules, other.loads)


@attrs.frozen
class WrittenTier:
    """What `TypesFolder.write_tier` has done."""

    files: Mapping[str, VirtualUi]
    """By their path in the tier's folder."""

    number: int
    """Of the texts: another one when one of all files is other than the last time."""

    changed: frozenset[str]
    """All files that have been written, by path; those may be among them that stay the same."""


@attrs.define(eq=False)
class TypesFolder:
    """The folder of one project; keeps what it has read of halves that stay the same."""

    root: Path
    compiler: Path
    """Where TypeScript and the types of React are installed."""

    name: Path = FOLDER
    """Relative to ``root``."""

    own: dict[str, dict[str, str]] = attrs.field(init=False)
    """Types of what own components get, by page file and name; see `component_props`."""

    _files: TextFiles = attrs.field(
        default=attrs.Factory(lambda self: TextFiles(self.root), takes_self=True)
    )
    components: FoundFiles = attrs.field(factory=FoundFiles)
    """The files of components that the pages import."""

    _component_files: ComponentFiles = attrs.field(init=False)
    _declaration_files: DeclarationFiles = attrs.field(
        default=attrs.Factory(lambda self: DeclarationFiles(self.root), takes_self=True)
    )
    _read: dict[str, tuple[str, UiPlaces]] = attrs.field(factory=dict)
    _declared: dict[Tier, tuple[_DeclarationInput, dict[str, str]]] = attrs.field(factory=dict)
    """The last declarations for all halves of a tier, and what they were made of."""

    _virtual: dict[tuple[Tier, str], tuple[_Input, _Output]] = attrs.field(factory=dict)
    """What was made last of a half in a tier, and of what."""

    _halves: dict[str, UiHalf] = attrs.field(factory=dict)
    """As they were read last, by source."""

    _digests: dict[str, tuple[str, str]] = attrs.field(factory=dict)
    """Text and digest of halves, by source."""

    _slots: dict[str, tuple[str, frozenset[str] | None]] = attrs.field(factory=dict)
    """Text and slots of halves, by source."""

    _tiers: dict[Tier, tuple[dict[str, str], int]] = attrs.field(factory=dict)
    """The texts of all files of a tier, and how often they have changed."""

    _facts: ProjectTypes | None = None
    """The types that were written last."""

    @own.default
    def _own_before(self) -> dict[str, dict[str, str]]:
        """Return the results of the last time: they are requested again, and mostly stay."""
        try:
            data = (self.root / FOLDER / _OWN).read_bytes()
            return msgspec.json.decode(data, type=dict[str, dict[str, str]])
        except UNUSABLE:
            return {}

    @_component_files.default
    def _no_files(self) -> ComponentFiles:
        return ComponentFiles(self.root)

    def note_own(self, found: Mapping[str, Mapping[str, str]]) -> bool:
        """Remember what own components get; return whether that is something new."""
        now = {source: dict(types) for source, types in found.items() if types}
        if now == self.own:
            return False
        self.own = now
        write_text(self.root, self.name / _OWN, json.dumps(now))
        return True

    def forget_refuted(self) -> None:
        """Guess once more what components pass to themselves: their text may be another one."""
        for types in self.own.values():
            types.update((name, text.replace(REFUTED, "any")) for name, text in [*types.items()])

    @property
    def path(self) -> Path:
        """The folder itself."""
        return self.root / self.name

    def halves(self, project: CheckedProject, types: ProjectTypes) -> list[UiHalf]:
        """Return the halves of all files that divide into halves."""
        known = types.by_source()
        found = []
        for number, page in enumerate(project.pages):
            source = page.module.source
            if page.whole and source in known:
                found.append(self.half(page, known[source], number))
        return found

    def component_halves(self, project: CheckedProject) -> list[UiHalf]:
        """Return the files of components that the pages import, read as halves."""
        pages = [page for page in project.pages if page.whole and not page.markdown]
        self.components = self._component_files.find(pages)
        return [
            self.half(one.page, one.types, COMPONENT, one.exports)
            for one in self.components.files.values()
        ]

    def half(
        self,
        page: CheckedPage,
        types: PageTypes,
        number: int,
        exports: Mapping[str, str] | None = None,
    ) -> UiHalf:
        """Return the half of the page file that has a ``number`` in its project."""
        source = page.module.source
        known = self._halves.get(source)
        if known is None or not known.is_of(page, types, number):
            known = UiHalf(page, types, number, self._places(page), exports)
            self._halves[source] = known
        return known

    def _places(self, page: CheckedPage) -> UiPlaces:
        source = page.module.source
        text, places = self._read.get(source, ("", None))
        if places is None or text != page.ui:
            places = read_places(page.ui)
            self._read[source] = page.ui, places
        return places

    def typed(self) -> Callable[[UiHalf], bool]:
        """Return what tells whether a half is known to write types."""
        try:
            data = (self.path / _TYPED).read_bytes()
            digests = msgspec.json.decode(data, type=frozenset[str])
        except UNUSABLE:
            digests = frozenset()
        return lambda half: (
            half.source.endswith(TYPED_SUFFIXES)
            if half.is_component
            else bool(digests) and self._digest(half) in digests  # mostly there are none
        )

    def note_typed(self, halves: Iterable[UiHalf]) -> None:
        """Remember that these halves, and no others, write types."""
        digests = sorted(set(map(self._digest, halves)))
        write_text(self.root, self.name / _TYPED, json.dumps(digests))

    def _digest(self, half: UiHalf) -> str:
        text, found = self._digests.get(half.source, ("", ""))
        if not found or text != half.page.ui:
            found = digest_of(half.page.ui)
            self._digests[half.source] = half.page.ui, found
        return found

    def write_facts(self, types: ProjectTypes) -> None:
        """Write the types of the project."""
        path = f"{self.name}/{FACTS}"
        known = self._files.text_of(path) if types is self._facts else None
        # The text of the same types is the same, and takes long to make.
        self._files.write(path, dump_types(types).decode() if known is None else known)
        self._facts = types

    def write_tier(
        self,
        tier: Tier,
        halves: Iterable[UiHalf],
        types: ProjectTypes,
        others: Iterable[str] = (),
        around: Iterable[CheckedPage] = (),
    ) -> WrittenTier:
        """Write the virtual files of ``halves``.

        ``others`` are paths that the app answers besides its pages, for example ``/admin/*``;
        ``around`` are page files besides the halves' whose slots count.
        """
        listed = list(halves)
        texts = self._declarations(tier, listed, types, others)
        texts.update(list(self._left_the_tier(tier, texts)))
        virtual: dict[str, VirtualUi] = {}
        slots = self._slots_in((*around, *(half.page for half in listed)))
        for half in listed:
            around_it = None if slots is None else slots_around(half.types, slots)
            name = virtual_name(half.source, tier)
            declaration, virtual[name] = self._half_files(tier, half, around_it)
            if not half.is_component:
                texts[_declared(half.module)] = declaration
            texts[name] = virtual[name].text
        texts["tsconfig.json"] = compiler_settings(
            self.root,
            self.path,
            self.compiler,
            tier,
            declarations=self._declaration_files.find(),
            files=virtual,
        )
        self._prepare_build_info(tier)
        written = self._files.write_all(f"{self.name}/{tier}", texts)
        before, number = self._tiers.get(tier, ({}, 0))
        self._tiers[tier] = texts, number + (before != texts)
        return WrittenTier(virtual, self._tiers[tier][1], frozenset(written))

    def _prepare_build_info(self, tier: Tier) -> None:
        """Make way for the output of the compiler, and remove that of an older fxtrio."""
        name = build_info(self.compiler)
        require_no_link(self.root, self.name / tier / name)
        if tier not in self._tiers:
            for old in (self.path / tier).glob("build*.json"):
                if old.name != name:
                    old.unlink(missing_ok=True)

    def _slots_in(self, pages: Iterable[CheckedPage]) -> Mapping[str, frozenset[str]] | None:
        """Return the names of the places that each file has; None when some cannot be seen."""
        found = {}
        for page in pages:
            source = page.module.source
            text, names = self._slots.get(source, (None, None))
            if text != page.ui:
                names = slot_names(page.ui)
                self._slots[source] = page.ui, names
            if names is None:
                return None
            found[source] = names
        return found

    def _declarations(
        self, tier: Tier, halves: Iterable[UiHalf], types: ProjectTypes, others: Iterable[str]
    ) -> dict[str, str]:
        """Return what declares the app for all halves of a tier, by file."""
        # Halves of the other tier, too: what they are is known only when this one is compiled.
        known = {**self._halves, **{half.source: half for half in halves}}
        read = (*(half.page.ui for half in known.values()), *self.components.plain.values())
        names_data = any("DataOf" in text for text in read)
        listed = [half for half in halves if not half.is_component and tier != "blank"]
        now = _DeclarationInput(
            types,
            tuple(others),
            {half.source: half.module for half in listed} if names_data else {},
            loads=any("useLoader" in half.page.ui for half in halves),
        )
        cached = self._declared.get(tier)
        if cached is None or not cached[0].is_same(now):
            cached = self._declared[tier] = now, _declarations(tier, now)
        return dict(cached[1])

    def _left_the_tier(self, tier: Tier, declared: Container[str]) -> Iterator[tuple[str, str]]:
        """Yield the declarations of pages as they were when their halves were of this tier.

        Others would be as true, but then the compiler looks at all halves again.
        """
        for half in self._halves.values():
            name, cached = _declared(half.module), self._virtual.get((tier, half.source))
            if half.is_component or cached is None or name not in declared:
                continue
            before = cached[0].half
            if half.types is before.types and half.number == before.number:
                yield name, cached[1][0]

    def _half_files(self, tier: Tier, half: UiHalf, places: list[str] | None) -> _Output:
        """Return what declares a half's module, and the half as the compiler reads it."""
        own = self.own.get(half.source, {}) if tier == "loose" else None
        passed: tuple[Use, ...] = ()
        if own is not None:
            passed = tags_of_imports(half.source, half.imported_tags, self.components)
        now = _Input(half, places, own, passed)
        cached = self._virtual.get((tier, half.source))
        if cached is not None and cached[0].is_same(now):
            return cached[1]
        declaration = (
            "" if half.is_component else page_module(half.types, half.number, places, tier)
        )
        typed = tier == "strict"
        text, at = half.page.ui, half.places
        virtual = virtual_ui(
            text, at, half.module, typed=typed, own=own, exports=half.exports, passed=passed
        )
        self._virtual[tier, half.source] = now, (declaration, virtual)
        return declaration, virtual


def _declarations(tier: Tier, declared: _DeclarationInput) -> dict[str, str]:
    types = declared.types
    data: dict[str, str] = {}
    pages = {page.pattern for page in types.pages if page.pattern}
    beside = {*types.routes, *declared.others} - pages
    loose = tier != "strict"
    texts: dict[str, str] = {}
    for number, page in enumerate(types.pages if declared.modules else ()):
        data[page.source] = declared.modules.get(page.source, module_name(number))
        texts[_declared(data[page.source])] = page_module(page, number, None, tier)
    shared = [shared_name(number) for number in range(len(types.shared))]
    texts |= {
        "client.d.ts": app_module(tier, data, shared),
        "routes.d.ts": routes_module(types.pages, beside),
        "sockets.d.ts": sockets_module(types.pages, loose=loose),
        "elsewhere.d.ts": elsewhere_module(types.pages, loose=loose),
        "loaded.d.ts": loaded_module(types.pages if declared.loads else (), loose=loose),
    }
    for name, module in zip(shared, types.shared, strict=True):
        texts[_declared(name)] = shared_module(module, tier)
    return texts


def virtual_name(source: str, tier: Tier) -> str:
    """Return the path of a virtual file in the folder of its tier."""
    if source.endswith(".ts"):
        return f"{source}.ts"
    return f"{source}.{'tsx' if tier == 'strict' else 'jsx'}"


def _declared(module: str) -> str:
    """Return the file that declares a module such as ``fx/c00001``."""
    return f"{module.removeprefix('fx/')}.d.ts"


def digest_of(text: str) -> str:
    """Return a short text that stands for another one."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


_SLOT = re.compile(r"<Slot\b[^<>]*?\bname=(?:\"([^\"]*)\"|'([^']*)'|(\{))", re.DOTALL)


def slot_names(ui: str) -> frozenset[str] | None:
    """Return the names of the places that a UI half has; None when some cannot be seen."""
    names = set()
    for one in _SLOT.finditer(ui):
        if one[3]:
            return None
        names.add(one[1] or one[2] or "")
    return frozenset(names)


def slots_around(page: PageTypes, slots: Mapping[str, frozenset[str]]) -> list[str] | None:
    """Return the places in the layouts around a page; None when there may be others."""
    found = {name for layout in page.layouts for name in slots.get(layout, ())}
    return sorted(found) or None
