"""A complaint of the compiler, and where it is in the half that it is about."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import attrs

from fxtrio.tools.types.report.compiler import Diagnostic
from fxtrio.tools.types.ui.virtual_project import UiHalf
from fxtrio.tools.types.ui.virtual_ui import VirtualUi


@attrs.frozen
class Seen:
    """A complaint, and where it is."""

    diagnostic: Diagnostic
    half: UiHalf
    place: tuple[int, int]
    """Line and column in the `.fxl`, from 1."""

    offset: int
    """In the UI half."""


def seen_in(
    found: Iterable[Diagnostic], virtual: Mapping[str, VirtualUi], halves: Mapping[str, UiHalf]
) -> Iterable[Seen]:
    """Yield complaints about the halves with their places; those about other files are left out."""
    for one in found:
        virtual_file = virtual.get(one.path)
        half = halves.get(one.path.rpartition(".")[0])
        if virtual_file is None or half is None:
            continue
        line = (
            virtual_file.text.split("\n")[one.line - 1]
            if one.line <= virtual_file.text.count("\n") + 1
            else ""
        )
        units = line.encode("utf-16-le")[: 2 * (one.column - 1)]
        place = virtual_file.place(one.line, len(units.decode("utf-16-le", "replace")) + 1)
        starts = half.places.source.line_starts
        offset = starts[min(place[0], len(starts)) - 1] + place[1] - 1
        yield Seen(one, half, place, offset)
