"""The names of classes in the types of one page: each class has one, no two have the same."""

from __future__ import annotations

from collections.abc import Iterable

import attrs

from fxtrio.tools.types.python.shapes import Definition, Named, Place, Shape, UnknownType, walk


@attrs.define(eq=False)
class Definitions:
    """Gives names, and keeps what they stand for."""

    _known: dict[str, Definition] = attrs.field(factory=dict)

    def reserve(self, wanted: str, *, incoming: bool) -> str:
        """Return a name like ``wanted`` that is not taken yet, and take it.

        Inputs are named apart: a body is not what the encoder makes of the same class.
        """
        plain = "".join(char if char.isalnum() and char.isascii() else "_" for char in wanted)
        base = f"{plain}Input" if incoming else plain
        name, number = base, 2
        while name in self._known:
            name, number = f"{base}{number}", number + 1
        self._known[name] = Definition(name, UnknownType("it is being read"))
        return name

    def fill(self, name: str, shape: Shape, place: Place | None = None, python: str = "") -> None:
        """Say what a reserved name stands for; ``python`` is ``module.Class``."""
        self._known[name] = Definition(name, shape, place, python)

    def resolve(self, shape: Shape) -> Shape:
        """Return what a name stands for; any other shape is returned as it is."""
        while isinstance(shape, Named):
            shape = self._known[shape.name].shape
        return shape

    def reachable(self, shapes: Iterable[Shape]) -> tuple[Definition, ...]:
        """Return what ``shapes`` mention, and what that mentions, by name."""
        found: dict[str, Definition] = {}
        waiting = list(shapes)
        while waiting:
            for _, part in walk(waiting.pop()):
                if isinstance(part, Named) and part.name not in found:
                    found[part.name] = self._known[part.name]
                    waiting.append(self._known[part.name].shape)
        return tuple(found[name] for name in sorted(found))

    def all(self) -> tuple[Definition, ...]:
        """Return all of them, in the order in which they were met."""
        return tuple(self._known.values())
