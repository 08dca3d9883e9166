"""A UI half as the compiler of TypeScript reads it: the same lines, with types put in. Pure.

Insertions are in the lines of the half; `Shift` says where, so that columns can be
mapped back. Everything else has the same place, the name of the client module too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

import attrs

from fxtrio.tools.types.ui.source.component_props import Use, own_components, probes
from fxtrio.tools.types.ui.source.default_export import PropsParameter, find_default
from fxtrio.tools.types.ui.source.jsx_positions import UiPlaces

_CLIENT = re.compile(r"""(?<=['"])fx/client(?=['"])""")
_SLOTS = re.compile(r"export\s+(?:const|let|var)\s+slots\b(?P<type>\s*:)?")


@attrs.frozen
class Shift:
    """Something that was put in."""

    line: int
    """1-based."""

    column: int
    """1-based, in characters: where it begins, in the virtual file."""

    width: int


@attrs.frozen
class VirtualUi:
    """A virtual file."""

    text: str
    shifts: tuple[Shift, ...]
    check: tuple[int, tuple[int, int]] | None = None
    """The line of a statement that was added, and the place in the half that it is about."""

    def place(self, line: int, column: int) -> tuple[int, int]:
        """Return the place in the `.fxl` of one in the virtual file; both from 1."""
        if self.check is not None and line >= self.check[0]:
            return self.check[1]
        back = 0
        for shift in self.shifts:
            if shift.line == line and column >= shift.column + shift.width:
                back += shift.width
            elif shift.line == line and column > shift.column:
                back += column - shift.column
        return line, column - back


def virtual_ui(
    text: str,
    places: UiPlaces,
    module: str,
    *,
    typed: bool,
    own: Mapping[str, str] | None = None,
    exports: Mapping[str, str] | None = None,
    passed: Iterable[Use] = (),
) -> VirtualUi:
    """Return the virtual file of a UI half.

    ``module`` is what it imports in place of ``fx/client``. ``typed`` halves are TypeScript,
    the others JavaScript, in which types are comments. ``own`` has the types of what its own
    components get, as far as they are known; without it nobody asks for them. ``exports`` are
    those of a file that is no page, and ``passed`` the tags of components of other files.
    """
    found = find_default(text, places)
    puts: list[tuple[int, str]] = []
    props = f'import("{module}").$Props'
    parameter = found.parameter if exports is None else None
    if parameter is not None and not parameter.typed:
        if not typed and parameter.how == "bare":
            name = text[parameter.start : parameter.end]
            puts.append((parameter.start, f"/** @param {{{props}}} {name} */ "))
        elif not typed:
            puts.append((parameter.start, f"/** @type {{{props}}} */ "))
        elif parameter.how == "bare":
            puts += [(parameter.start, "("), (parameter.end, f": {props})")]
        else:
            puts.append((parameter.end, f": {props}"))
    if own is not None and not typed:
        components = own_components(text, places, exports)
        puts += probes([*passed, *(use for one in components for use in one.uses)])
        for component in components:
            if component.name in own:
                puts.append(_component_type(text, component.parameter, own[component.name]))
    puts += _slot_types(text, places, module, typed=typed)
    # As long as it was.
    renamed = _CLIENT.sub(module, text)
    text_out, shifts = _put_in(renamed, places, sorted(puts))
    check = None
    if typed and parameter is not None and parameter.typed and found.name:
        line = text_out.count("\n") + 2
        text_out += f"\n({found.name}) satisfies (props: {props}) => unknown;\n"
        check = line, places.source.place_of(parameter.start)
    return VirtualUi(text_out, shifts, check)


def _component_type(text: str, parameter: PropsParameter, type_: str) -> tuple[int, str]:
    if parameter.how == "bare":
        name = text[parameter.start : parameter.end]
        return parameter.start, f"/** @param {{{type_}}} {name} */ "
    return parameter.start, f"/** @type {{{type_}}} */ "


def _slot_types(
    text: str, places: UiPlaces, module: str, *, typed: bool
) -> Iterable[tuple[int, str]]:
    for offset in places.exports:
        found = _SLOTS.match(text, offset)
        if found is None or found["type"]:
            continue
        slots = f'import("{module}").$Slots'
        if typed:
            yield found.end(), f": {slots}"
        else:
            yield offset, f"/** @type {{{slots}}} */ "


def _put_in(
    text: str, places: UiPlaces, puts: Iterable[tuple[int, str]]
) -> tuple[str, tuple[Shift, ...]]:
    text_out, last = "", 0
    shifts: list[Shift] = []
    for offset, put in puts:
        text_out += text[last:offset] + put
        last = offset
        line, column = places.source.place_of(offset)
        before = sum(shift.width for shift in shifts if shift.line == line)
        shifts.append(Shift(line, column + before, len(put)))
    return text_out + text[last:], tuple(shifts)
