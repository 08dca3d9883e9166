"""What is not known of a project's types, and how to annotate it: `fx typecheck --strict`."""

from __future__ import annotations

from collections.abc import Iterator

from fxtrio.compile.problems import Problem
from fxtrio.types.page_types import PageTypes, ProjectTypes
from fxtrio.types.shapes import Place, Shape, Vague, walk

_REMEDY = "Annotate what it comes from"


def vague_problems(types: ProjectTypes) -> list[Problem]:
    """Return a problem for each thing that is not known, once, by place."""
    found: dict[tuple[str, int, int], Problem] = {}
    for page in types.pages:
        for problem in _of_page(page):
            found.setdefault((problem.path, problem.line, problem.column), problem)
    return sorted(found.values())


def _of_page(page: PageTypes) -> Iterator[Problem]:
    yield from _of_shape(page, page.data, "data", page.loader)
    for action in page.actions:
        yield from _of_shape(page, action.result, f"the result of {action.name}", action.place)
        if action.argument is not None:
            what = f"the argument of {action.name}"
            yield from _of_shape(page, action.argument, what, action.place)
    if page.messages is not None:
        yield from _of_shape(page, page.messages, "a message of the WebSocket", page.socket)
    for one in page.definitions:
        yield from _of_shape(page, one.shape, one.name, one.place)


def _of_shape(page: PageTypes, shape: Shape, what: str, place: Place | None) -> Iterator[Problem]:
    for path, inner in walk(shape):
        if isinstance(inner, Vague):
            own = inner.place if inner.place and not inner.place.path.startswith("/") else None
            where = own or place or Place(page.source, 1, 1)
            message = f"{what}{path} may be anything: {inner.reason}"
            yield Problem(where.path, where.line, where.column, message, inner.remedy or _REMEDY)
