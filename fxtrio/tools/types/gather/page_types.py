"""The types of a project, page by page: what `gather` finds, and everybody else reads."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from fxtrio.tools.types.python.shapes import NOTHING, Definition, Named, Place, Shape, UnknownType

_SURROGATE = re.compile("[\ud800-\udfff]")

FileKind = Literal[
    "page", "layout", "template", "error", "not-found", "loading", "api", "actions", "component"
]


class Parameter(msgspec.Struct, frozen=True):
    """A dynamic part of a page's path."""

    name: str
    kind: Literal["one", "rest", "optional-rest"] = "one"


class ActionTypes(msgspec.Struct, frozen=True):
    """What an action takes and gives."""

    name: str
    argument: Shape | None
    """The body; None when the action reads it itself, or takes none."""

    result: Shape
    """The keys beside ``ok``."""

    fields: tuple[str, ...] = ()
    """The names of the body's fields: of form controls, and of the first part of the paths in
    ``fields``; empty when they are not known."""

    optional: bool = False
    """Whether it may be called without a body."""

    closed: bool = True
    """Whether ``fields`` are all: not so when the body is a record, or not known."""

    controls: tuple[str, ...] = ()
    """The fields of the body alone: ``fields`` has those of its errors, too."""

    place: Place | None = None
    """The name of the function."""

    text: str = ""
    """Its docstring."""

    redirects: bool = False
    """Whether its own code names a redirect, which is answered in place of the result."""

    value: Shape | None = None
    """What an action that streams yields; None for one that returns."""


class StreamTypes(msgspec.Struct, frozen=True):
    """What a `@stream` yields."""

    name: str
    value: Shape
    query: Shape | None = None
    """The model of its query; None without one."""

    place: Place | None = None
    """The name of the function."""

    text: str = ""
    """Its docstring."""


class MethodTypes(msgspec.Struct, frozen=True):
    """What an endpoint answers to one method."""

    name: str
    """In lower case; ``*`` for all that have no function of their own."""

    result: Shape
    text: str = ""
    """The docstring of the function."""


class EndpointTypes(msgspec.Struct, frozen=True):
    """What one Python endpoint answers."""

    source: str
    pattern: str
    params: tuple[Parameter, ...] = ()
    methods: tuple[MethodTypes, ...] = ()
    definitions: tuple[Definition, ...] = ()
    """As in `PageTypes`."""


class PageTypes(msgspec.Struct, frozen=True):
    """What one `.fxl` file gives to its UI half."""

    source: str
    kind: FileKind
    pattern: str = ""
    """For example ``/blog/[id]``; "" for other files."""

    data: Shape = NOTHING
    loader: Place | None = None
    """The name of the loader."""

    layout_data: Shape = NOTHING
    """What the loaders around it give, merged: the nearest wins."""

    params: tuple[Parameter, ...] = ()
    actions: tuple[ActionTypes, ...] = ()
    streams: tuple[StreamTypes, ...] = ()
    messages: Shape | None = None
    """What its WebSocket sends; None when it serves none."""

    socket: Place | None = None
    """The name of the function that serves it."""

    front_matter: Shape | None = None
    """What pages in Markdown that it is, or is a layout of, say about themselves; None when there
    is none, or when one of them may say anything."""

    definitions: tuple[Definition, ...] = ()
    """What `Named` stands for, by name; inputs have names of their own."""

    layouts: tuple[str, ...] = ()
    """Sources of the layouts and templates around it, outermost first."""

    def definition(self, shape: Shape) -> Shape:
        """Return what a `Named` stands for; any other shape is returned as it is."""
        while isinstance(shape, Named):
            found = self.definition_of(shape.name)
            if found is None:
                return UnknownType(f"{shape.name} is unknown")
            shape = found.shape
        return shape

    def definition_of(self, name: str) -> Definition | None:
        """Return the action ``name``; None without one."""
        return next((one for one in self.definitions if one.name == name), None)

    def action(self, name: str) -> ActionTypes | None:
        """Return the action ``name``; None when there is none."""
        return next((action for action in self.actions if action.name == name), None)


class ProjectTypes(msgspec.Struct, frozen=True):
    """The types of all files of a project."""

    pages: tuple[PageTypes, ...] = ()
    """By source: pages, layouts, and all other `.fxl` files."""

    routes: tuple[str, ...] = ()
    """The patterns of all pages and endpoints."""

    endpoints: tuple[EndpointTypes, ...] = ()
    """By pattern; those that have been imported."""

    shared: tuple[PageTypes, ...] = ()
    """By source: modules of actions, whose actions have their whole names."""

    def page(self, source: str) -> PageTypes | None:
        """Return the types of a `.fxl` file."""
        return next((page for page in self.pages if page.source == source), None)

    def by_source(self) -> Mapping[str, PageTypes]:
        """Return all files by their source."""
        return {page.source: page for page in self.pages}


def dump_types(types: ProjectTypes) -> bytes:
    """Return JSON that `load_types` reads.

    A text in code that is no valid Unicode is what the server sends for it.
    """
    try:
        return msgspec.json.encode(types)
    except UnicodeEncodeError:
        return msgspec.json.encode(_valid(msgspec.to_builtins(types)))


def _valid(value: Any) -> Any:
    if isinstance(value, str):
        return _SURROGATE.sub("\N{REPLACEMENT CHARACTER}", value)
    if isinstance(value, dict):
        return {_valid(key): _valid(one) for key, one in value.items()}
    return [_valid(one) for one in value] if isinstance(value, list | tuple) else value


def load_types(text: bytes) -> ProjectTypes:
    """Return what `dump_types` wrote. Raises msgspec.ValidationError."""
    return msgspec.json.decode(text, type=ProjectTypes)
