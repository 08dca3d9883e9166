"""Unknown types of a project, and how to annotate them: `fx typecheck --strict`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from fxtrio.compile.check.problem_kinds import FindingKind
from fxtrio.compile.checked_page import CheckedPage
from fxtrio.compile.problems import Problem
from fxtrio.compile.source import read_text
from fxtrio.tools.types.gather.page_types import PageTypes, ProjectTypes
from fxtrio.tools.types.python.shapes import Place, Shape, UnknownType, walk

_KIND = FindingKind.UNKNOWN_TYPES
_REMEDY = "Annotate what it comes from: a name ('rows: list[Row] = …'), or what a function returns"
_CONNECTED = re.compile(r"\buseWebSocket\(\s*(?P<path>(?P<name>[A-Za-z_$][\w$.]*)\s*[,()]|`\$\{)")
_MESSAGE = "what this WebSocket sends may be anything: its path is unknown here"
_PATH_REMEDY = "Write the path, with ${…} for its parameters: useWebSocket(`/rooms/${room}`)"
_LITERAL = r"\bconst\s+%s\s*=\s*[\"'`](?!\$\{)"


def unknown_type_problems(types: ProjectTypes, pages: Iterable[CheckedPage] = ()) -> list[Problem]:
    """Return a problem for each thing that is not known, once, by place.

    ``pages`` are looked at for WebSockets of paths that are only known when they run.
    """
    found: dict[tuple[str, int, int], Problem] = {}
    for page in (*types.pages, *types.shared):
        for problem in _of_page(page):
            found.setdefault((problem.path, problem.line, problem.column), problem)
    for checked in pages:
        for problem in _of_paths(checked):
            found.setdefault((problem.path, problem.line, problem.column), problem)
    return sorted(found.values())


def _of_page(page: PageTypes) -> Iterator[Problem]:
    yield from _of_shape(page, page.data, "data", page.loader)
    for action in page.actions:
        yield from _of_shape(page, action.result, f"the result of {action.name}", action.place)
        if action.value is not None:
            yield from _of_shape(page, action.value, f"a value of {action.name}", action.place)
        if action.argument is not None:
            what = f"the argument of {action.name}"
            yield from _of_shape(page, action.argument, what, action.place)
    if page.messages is not None:
        yield from _of_shape(page, page.messages, "a message of the WebSocket", page.socket)
    for one in page.definitions:
        yield from _of_shape(page, one.shape, one.name, one.place)


def _of_shape(page: PageTypes, shape: Shape, what: str, place: Place | None) -> Iterator[Problem]:
    for path, inner in walk(shape):
        if isinstance(inner, UnknownType):
            own = inner.place if inner.place and not inner.place.path.startswith("/") else None
            where = own or place or Place(page.source, 1, 1)
            message = f"{what}{path} may be anything: {inner.reason}"
            remedy = (
                inner.remedy if own or inner.place is None else ""
            )  # nobody annotates libraries
            yield Problem(
                where.path, where.line, where.column, message, remedy or _REMEDY, kind=_KIND
            )


def _of_paths(page: CheckedPage) -> Iterator[Problem]:
    text = page.ui
    for call in _CONNECTED.finditer(text):
        line = text[text.rfind("\n", 0, call.start()) + 1 : call.start()]
        name = call["name"]
        if "//" in line or line.lstrip().startswith(("*", "/*")) or name == "undefined":
            continue
        if name is None or re.search(_LITERAL % re.escape(name), text) is None:
            place = read_text(text, "").place_of(call.start("path"))
            yield Problem(page.module.source, *place, _MESSAGE, _PATH_REMEDY, kind=_KIND)
