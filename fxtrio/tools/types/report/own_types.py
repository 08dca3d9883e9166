"""What own components get: from what the compiler answers about the values that tags pass."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

import attrs

from fxtrio.tools.types.python.shapes import Definition, ObjectShape
from fxtrio.tools.types.report.remedies import written_keys
from fxtrio.tools.types.report.seen import Seen
from fxtrio.tools.types.ui.source.component_files import FoundFiles
from fxtrio.tools.types.ui.source.component_props import (
    Answers,
    OwnComponent,
    Use,
    answer_of,
    props_of,
    written,
)
from fxtrio.tools.types.ui.typescript import Printer
from fxtrio.tools.types.ui.virtual_project import UiHalf

OwnTypes = Mapping[str, Mapping[str, str]]
"""By source and name of the component."""

_NO_FILES = FoundFiles()


@attrs.frozen(eq=False)
class _Names:
    """How the classes that answers name are written where another file reads them."""

    by_source: Mapping[str, Mapping[str, str]]
    anywhere: Mapping[str, str]
    """Those that mean the same in all page files."""

    keys: Mapping[str, Sequence[str]]
    """Of a class, as it is written."""

    def of(self, half: UiHalf) -> Mapping[str, str]:
        return self.by_source.get(half.source, self.anywhere)

    def keys_of(self, text: str) -> Sequence[str] | None:
        """Return the keys of a type; None when they are not known."""
        return self.keys.get(text) or written_keys(text) or None


def own_types(
    halves: Iterable[UiHalf],
    seen: Iterable[Seen],
    before: OwnTypes,
    files: FoundFiles = _NO_FILES,
) -> dict[str, dict[str, str]]:
    """Return what the own components of halves get, by source and name.

    ``before`` is what has been returned the last time; ``files`` are those in which the halves
    may have components.
    """
    probed: dict[str, dict[int, str]] = defaultdict(dict)
    for one in seen:
        if answer := answer_of(one.diagnostic):
            probed[one.half.source][one.offset] = answer
    by_source = {half.source: half for half in halves}
    names = _names_of(by_source.values())
    answers: dict[str, Answers] = {
        source: {
            offset: written(text, names.of(by_source[source])) for offset, text in found.items()
        }
        for source, found in probed.items()
    }
    passed = _passed_to_files(by_source, answers, files)
    found: dict[str, dict[str, str]] = {}
    for source, half in by_source.items():
        known = before.get(source, {})
        for component in half.components:
            uses = [(one, answers.get(source, {})) for one in component.uses]
            if half.exports is not None and _is_exported(component, half.exports):
                outside = passed.get((source, component.name))
                if outside is None:
                    continue
                uses += outside
            text = props_of(component, uses, known.get(component.name, ""), names.keys_of)
            if text:
                found.setdefault(source, {})[component.name] = text
    return found


def _is_exported(component: OwnComponent, exports: Mapping[str, str]) -> bool:
    return component.name == "default" or component.name in exports.values()


def _passed_to_files(
    halves: Mapping[str, UiHalf], answers: Mapping[str, Answers], files: FoundFiles
) -> dict[tuple[str, str], list[tuple[Use, Answers]] | None]:
    """Return what importers pass to components, by file and name; None where one is not seen."""
    passed: dict[tuple[str, str], list[tuple[Use, Answers]] | None] = {}
    for importer in files.importers.values():
        half = halves.get(importer.source)
        for name, (target, outside) in importer.names.items():
            inner = files.files[target].exports.get(outside, outside) or "default"
            known = None if half is None else half.imported_tags.of(name)
            earlier = passed.setdefault((target, inner), [])
            if known is None or earlier is None or target in files.opaque:
                passed[target, inner] = None
            else:
                earlier += [(one, answers.get(importer.source, {})) for one in known]
    return passed


def _names_of(halves: Iterable[UiHalf]) -> _Names:
    """Return how classes are written: one of several pages as the first of them has it."""
    by_source: dict[str, dict[str, str]] = {}
    anywhere: dict[str, str] = {}
    ambiguous: set[str] = set()
    keys: dict[str, Sequence[str]] = {}
    first: dict[Definition, str] = {}
    for half in halves:
        if half.is_component:
            continue
        own = by_source[half.source] = {}
        if not half.types.definitions:
            continue
        printed = Printer.of(half.types.definitions).names
        for one in half.types.definitions:
            name = printed.get(one.name, one.name)
            text = first.setdefault(one, f'import("{half.module}").{name}')
            own[name] = text
            if isinstance(one.shape, ObjectShape):
                keys[text] = [key.name for key in one.shape.keys]
            if anywhere.setdefault(name, text) != text:
                ambiguous.add(name)
    known = {name: text for name, text in anywhere.items() if name not in ambiguous}
    return _Names(by_source, known, keys)
