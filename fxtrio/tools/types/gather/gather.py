"""A checked project and its imported modules in, the types of all its files out.

It runs where the project's code is imported; whoever wants the types elsewhere has them
written down (`dump_types`).
"""

from __future__ import annotations

import inspect
import types
import typing
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from fxtrio.compile.check.python_declarations import kind_of
from fxtrio.compile.checked_page import CheckedPage
from fxtrio.compile.markdown_pages import FRONT_MATTER
from fxtrio.compile.project import CheckedProject
from fxtrio.compile.views import plan_site
from fxtrio.manifest import ActionModule, PageModule
from fxtrio.routes.pattern import Kind, parse_pattern
from fxtrio.routes.suffixes import MARKDOWN_SUFFIX
from fxtrio.runtime import is_streamed
from fxtrio.tools.types.gather.page_types import (
    ActionTypes,
    EndpointTypes,
    MethodTypes,
    PageTypes,
    Parameter,
    ProjectTypes,
    StreamTypes,
)
from fxtrio.tools.types.inference.function_inference import make_reader
from fxtrio.tools.types.python.annotations import Shaper
from fxtrio.tools.types.python.class_names import Definitions
from fxtrio.tools.types.python.classes import hints_of
from fxtrio.tools.types.python.error_fields import (
    RaisedFields,
    joined,
    project_modules,
    raised_fields,
)
from fxtrio.tools.types.python.return_types import Returned, safely
from fxtrio.tools.types.python.shapes import NOTHING, ObjectShape, Place, Shape, UnknownType, union
from fxtrio.tools.types.python.sources import Sources
from fxtrio.tools.types.python.websocket_messages import message_shape
from fxtrio.tools.types.ui.layout_data import layered

Namespaces = Mapping[str, Mapping[str, Any]]
"""Source of a page file to the names of its imported Python half."""

_LEADS = frozenset({"redirect", "Redirect"})
_PARAMETERS = {Kind.PARAM: "one", Kind.REST: "rest", Kind.OPTIONAL_REST: "optional-rest"}


_NOT_IMPORTED = UnknownType("the server half cannot be imported")


Functions = Mapping[str, Mapping[str, Any]]
"""Source of an endpoint to its functions by method, as they were written."""


def gather(
    root: Path, project: CheckedProject, spaces: Namespaces, endpoints: Functions | None = None
) -> ProjectTypes:
    """Return what the project in ``root`` gives to its UI halves.

    ``spaces`` has the files that could be imported; the types of the others are unknown.
    """
    gatherer = _Gatherer(root, project, spaces)
    pages = tuple(map(gatherer.page, project.pages))
    patterns = {endpoint.source: endpoint.pattern for endpoint in project.tree.api}
    return ProjectTypes(
        pages,
        (*(page.pattern for page in project.tree.pages), *patterns.values()),
        tuple(
            gatherer.endpoint(source, patterns[source], functions)
            for source, functions in sorted((endpoints or {}).items())
        ),
        tuple(map(gatherer.shared, project.actions)),
    )


class _Gatherer:
    """Reads the files of one project. A class has the same name in all of them."""

    def __init__(self, root: Path, project: CheckedProject, spaces: Namespaces) -> None:
        self._sources = Sources(root, {page.module.source: page.python for page in project.pages})
        self._definitions = Definitions()
        self._sent = Shaper(self._sources, self._definitions)
        self._taken = Shaper(self._sources, self._definitions, incoming=True)
        self._returned = Returned(self._sent, make_reader(self._sources))
        self._spaces = spaces
        self._root = root
        self._of_modules: RaisedFields | None = None
        self._around = _layouts(project)
        self._patterns = {page.source: page.pattern for page in project.tree.pages}
        self._data: dict[str, tuple[Shape, Place | None]] = {}
        self._pages = {page.module.source: page for page in project.pages}
        self._documents = [page for page in self._pages if page.endswith(MARKDOWN_SUFFIX)]

    def page(self, page: CheckedPage) -> PageTypes:
        """Return what one file gives."""
        source, kind = page.module.source, kind_of(page.module.source)
        data, loader = self._loaded(source)
        layers = [self._loaded(outer)[0] for outer in self._around.get(source, ())]
        if kind in ("layout", "template"):
            layers.append(data)
        resolve = self._definitions.resolve
        layout_data = layered(layers, resolve)
        actions = tuple(self._actions(page.module))
        streams = tuple(self._streams(page.module))
        shapes = [data, layout_data, *_shapes_of(actions)]
        shapes += [shape for one in streams for shape in (one.value, one.query) if shape]
        messages, socket = self._messages(page)
        shapes += [messages] if messages else []
        front_matter = self._front_matter(source)
        shapes += [front_matter] if front_matter else []
        pattern = self._patterns.get(source, "")
        return PageTypes(
            source=source,
            kind=kind,
            pattern=pattern,
            data=data,
            loader=loader,
            layout_data=layout_data,
            params=_parameters(pattern),
            actions=actions,
            streams=streams,
            messages=messages,
            socket=socket,
            front_matter=front_matter,
            definitions=self._definitions.reachable(shapes),
            layouts=self._around.get(source, ()),
        )

    def shared(self, module: ActionModule) -> PageTypes:
        """Return what a module of actions gives."""
        actions = tuple(
            replace(action, name=f"{module.name}.{action.name}") for action in self._actions(module)
        )
        named = self._definitions.reachable(_shapes_of(actions))
        return PageTypes(module.source, "actions", actions=actions, definitions=named)

    def endpoint(self, source: str, pattern: str, functions: Mapping[str, Any]) -> EndpointTypes:
        """Return what one endpoint answers."""
        methods = tuple(
            MethodTypes(name, self._returned.by_loader(function), inspect.getdoc(function) or "")
            for name, function in sorted(functions.items())
        )
        return EndpointTypes(
            source=source,
            pattern=pattern,
            params=_parameters(pattern),
            methods=methods,
            definitions=self._definitions.reachable(method.result for method in methods),
        )

    def _front_matter(self, source: str) -> Shape | None:
        with_content = [
            page for page in self._documents if source in (page, *self._around.get(page, ()))
        ]
        models = {self._spaces.get(page, {}).get(FRONT_MATTER).__class__ for page in with_content}
        if not models or type(None) in models:
            return None
        return union(self._taken.shape(model) for model in sorted(models, key=repr))

    def _loaded(self, source: str) -> tuple[Shape, Place | None]:
        """Return what the loader of a file gives, and where its name is written."""
        if source not in self._data:
            self._data[source] = self._load(self._pages[source])
        return self._data[source]

    def _load(self, page: CheckedPage) -> tuple[Shape, Place | None]:
        module = page.module
        if module.loader is None:
            return NOTHING, None
        function = self._spaces.get(module.source, {}).get(module.loader)
        if function is None:
            return _NOT_IMPORTED, None
        place = self._sources.place_of_function(function)
        return self._returned.by_loader(function), place

    def _actions(self, module: PageModule | ActionModule) -> Iterator[ActionTypes]:
        space = self._spaces.get(module.source, {})
        for name in module.actions:
            function = space.get(name)
            if function is None:
                yield ActionTypes(name, None, _NOT_IMPORTED, closed=False)
            else:
                unread = ActionTypes(name, None, _unread(name), optional=True, closed=False)
                yield safely(name, partial(self._action, name, function), unread)

    def _action(self, name: str, function: Any) -> ActionTypes:
        streamed = is_streamed(function)
        result = NOTHING if streamed else self._returned.by_action(function)
        value = self._returned.by_generator(function) if streamed else None
        function = inspect.unwrap(function)
        place, text = self._sources.place_of_function(function), inspect.getdoc(function) or ""
        parameters = list(inspect.signature(function).parameters.values())[1:]
        annotation = hints_of(function).get(parameters[0].name) if parameters else None
        model, optional = _model(annotation)
        if model is None:
            unread = ActionTypes(name, None, result, optional=True, closed=False)
            return replace(
                unread, place=place, text=text, redirects=_redirects(function), value=value
            )
        argument = self._taken.shape(model)
        found = self._definitions.resolve(argument)
        own = tuple(key.name for key in found.keys) if isinstance(found, ObjectShape) else ()
        raised = self._raised(function)
        return ActionTypes(
            name=name,
            argument=argument,
            result=result,
            fields=(*own, *sorted(raised.names - set(own))),
            optional=optional,
            closed=isinstance(found, ObjectShape) and raised.known,
            controls=own,
            place=place,
            text=text,
            redirects=_redirects(function),
            value=value,
        )

    def _streams(self, module: PageModule) -> Iterator[StreamTypes]:
        space = self._spaces.get(module.source, {})
        for name in module.streams:
            function = space.get(name)
            if function is None:
                yield StreamTypes(name, _NOT_IMPORTED)
            else:
                unread = StreamTypes(name, _unread(name))
                yield safely(name, partial(self._stream, name, function), unread)

    def _stream(self, name: str, function: Any) -> StreamTypes:
        value = self._returned.by_generator(function)
        function = inspect.unwrap(function)
        parameters = list(inspect.signature(function).parameters)[1:]
        bodies = [parameter for parameter in parameters if parameter != "after"]
        model = _model(hints_of(function).get(bodies[0]))[0] if bodies else None
        query = None if model is None else self._taken.shape(model)
        place, text = self._sources.place_of_function(function), inspect.getdoc(function) or ""
        return StreamTypes(name, value, query, place, text)

    def _messages(self, page: CheckedPage) -> tuple[Shape | None, Place | None]:
        """Return what the WebSocket of a file sends, and where its name is written."""
        if not page.module.websocket:
            return None, None
        function = self._spaces.get(page.module.source, {}).get("websocket")
        if function is None:
            return _NOT_IMPORTED, None
        unread: tuple[Shape | None, Place | None] = _unread("websocket"), None
        return safely("websocket", partial(self._sent_by, function), unread)

    def _sent_by(self, function: Any) -> tuple[Shape | None, Place | None]:
        function = inspect.unwrap(function)
        name = next(iter(inspect.signature(function).parameters), "")
        shape = message_shape(hints_of(function).get(name), self._sent)
        return shape, self._sources.place_of_function(function)

    def _raised(self, function: Any) -> RaisedFields:
        """Return what the errors of a function's page and of the project's modules name."""
        if self._of_modules is None:
            modules = project_modules(self._root, self._sources)
            self._of_modules = joined(map(raised_fields, modules))
        module = self._sources.of_file(function.__code__.co_filename)
        return joined(iter((self._of_modules, raised_fields(module))))


def _unread(name: str) -> UnknownType:
    return UnknownType(f"{name}() cannot be read")


def _shapes_of(actions: Iterable[ActionTypes]) -> Iterator[Shape]:
    for action in actions:
        for shape in (action.result, action.value, action.argument):
            if shape is not None:
                yield shape


def _redirects(function: Any) -> bool:
    """Whether the code of a function names what leads visitors elsewhere."""
    code = getattr(function, "__code__", None)
    return code is not None and not _LEADS.isdisjoint(code.co_names)


def _model(annotation: Any) -> tuple[Any, bool]:
    """Return the class of a body, and whether it is optional: None for a type that is no class."""
    optional = False
    if typing.get_origin(annotation) in (typing.Union, types.UnionType):
        inner = [part for part in typing.get_args(annotation) if part is not type(None)]
        optional = len(inner) < len(typing.get_args(annotation))
        annotation = inner[0] if len(inner) == 1 else None
    return (annotation if isinstance(annotation, type) else None), optional


def _layouts(project: CheckedProject) -> dict[str, tuple[str, ...]]:
    """Return the layouts around each file, outermost first."""
    standalone = {page.module.source for page in project.pages if page.module.standalone}
    found: dict[str, tuple[str, ...]] = {}
    for view in plan_site(project.tree, standalone).views:
        chain = tuple(layout.source for layout in view.layouts)
        # An error file of the root stands in without its layout, too: the longest is its own.
        found[view.source] = max(found.get(view.source, ()), chain, key=len)
        for index, source in enumerate(chain):
            found.setdefault(source, chain[:index])
        if view.loading is not None:
            found.setdefault(view.loading, chain)
    return found


def _parameters(pattern: str) -> tuple[Parameter, ...]:
    segments = parse_pattern(pattern) if pattern else ()
    return tuple(
        Parameter(segment.text, _PARAMETERS[segment.kind])  # type: ignore[arg-type]  # those three
        for segment in segments
        if segment.kind in _PARAMETERS
    )
