"""The page state: one JSON object, encoded once, for render, hydration and navigation.

Shape (keys in this order): ``ok``, ``statusCode``, for an error ``error`` (the
message), ``type``, ``data`` and ``boundary``, then ``routePath``,
``requestedPath``, ``page``, ``params``, ``props`` (``data``, ``layoutData``),
``layouts``, ``head``, ``ttl``, and ``actionData`` after a form that failed.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

import attrs

from fxtrio.encode import encode, escape_for_html
from fxtrio.errors import HeadResultInvalid
from fxtrio.head import parse_head
from fxtrio.manifest import HeadNode, View
from fxtrio.serve.pages.code import LoaderCode, PageCode, line_of
from fxtrio.serve.pages.loaders import Values

_HEADS_KEPT = 1024
"""Results of dynamic ``HEAD`` functions whose parsed form is kept, by their text."""


@attrs.frozen
class Problem:
    """Why an error or not-found view is shown."""

    message: str
    status: int
    type: str
    data: Mapping[str, Any] = attrs.field(factory=dict)


@attrs.frozen(eq=False)
class ViewPlan:
    """A view with everything that does not depend on the request."""

    view: View
    layouts: tuple[PageCode, ...]
    """Outermost first."""

    inner: PageCode
    loaders: tuple[LoaderCode, ...]
    """Of the layouts and the page, in the order of the chain."""

    page: bytes
    """The ``page`` object, encoded."""

    static_head: bytes | None
    """The ``head`` list, encoded; None when a ``HEAD`` function makes it."""

    memo: bool
    """Whether equal states have equal HTML: no ``MEMO = False`` in the chain."""

    revalidate: float | None = None
    """For how long whole responses are kept (seconds); None when they are not."""

    @property
    def chain(self) -> tuple[PageCode, ...]:
        """The layouts, then the page."""
        return (*self.layouts, self.inner)


def plan_view(view: View, codes: Mapping[str, PageCode]) -> ViewPlan:
    """Prepare a view: everything that can be encoded before a request comes."""
    layouts = tuple(codes[source] for source in view.layouts)
    inner = codes[view.module]
    chain = (*layouts, inner)
    static: bytes | None
    if any(code.head is not None for code in chain):
        static = None
    elif any(code.module.head for code in chain):
        static = _safe([code.module.head for code in chain], view.module)
    else:
        static = b"[]"
    return ViewPlan(
        view,
        layouts,
        inner,
        tuple(code.loader for code in chain if code.loader is not None),
        _safe({**view.client, "id": view.id}, view.module),
        static,
        all(code.module.memo for code in chain),
        inner.module.revalidate,
    )


class StateEncoder:
    """Encodes page states. One for each app: it keeps parsed heads."""

    def __init__(self) -> None:
        self._parse: Callable[[str], tuple[HeadNode, ...]] = functools.lru_cache(_HEADS_KEPT)(
            lambda text: tuple(parse_head(text))
        )

    def encode(
        self,
        plan: ViewPlan,
        values: Values,
        *,
        route: bytes,
        requested: bytes,
        params: bytes,
        status: int,
        ttl: float = 0,
        problem: Problem | None = None,
        action_data: Mapping[str, Any] | None = None,
        nonce: bytes = b"",
        deferred: bool = False,
    ) -> bytes:
        """Return the state, safe inside HTML.

        ``route``, ``requested`` and ``params`` are encoded JSON; ``deferred`` says
        that the page's own data follows in a stream. Raises NotSerializable, and
        whatever a ``HEAD`` function raises.
        """
        source = plan.inner.module.source
        data = _safe(values[source], _place(plan.inner)) if source in values else b"{}"
        layouts, layout_data = _layout_values(plan, values)
        head = plan.static_head
        if head is None:
            head = _safe(self._head(plan, values), source)
        if problem is None:
            opening = b'{"ok":true,"statusCode":%d' % status
        else:
            opening = _opening_of_problem(problem, source)
        parts = [
            opening,
            b',"routePath":',
            route,
            b',"requestedPath":',
            requested,
            b',"page":',
            plan.page,
            b',"params":',
            params,
            b',"props":{"data":',
            data,
            b',"layoutData":',
            layout_data,
            b'},"layouts":',
            layouts,
            b',"head":',
            head,
            b',"ttl":%g' % ttl,
        ]
        if action_data is not None:
            parts += (b',"actionData":', _safe(action_data, source))
        if nonce:
            parts += (b',"nonce":"', nonce, b'"')
        if deferred:
            parts.append(b',"deferred":true')
        parts.append(b"}")
        return b"".join(parts)

    def _head(self, plan: ViewPlan, values: Values) -> list[Any]:
        """Return the nodes of each level, from static ``HEAD``s and ``HEAD`` functions."""
        levels: list[Any] = []
        for code in plan.chain:
            if code.head is None:
                levels.append(code.module.head)
                continue
            made = code.head(values.get(code.module.source, {}))
            texts = [made] if isinstance(made, str) else (made or ())
            if not isinstance(texts, (list, tuple)) or not all(isinstance(t, str) for t in texts):
                line = line_of(code.head)
                raise HeadResultInvalid(f"{code.module.source}:{line}: HEAD()", made)
            levels.append([node for text in texts for node in self._parse(text)])
        return levels


def encode_data(plan: ViewPlan, values: Values) -> bytes:
    """Return the page's own data as JSON. Raises NotSerializable."""
    return encode(values.get(plan.inner.module.source, {}), place=_place(plan.inner))


def encode_requested(text: str) -> bytes:
    """Return a string of the request (path, parameter map) as safe JSON."""
    return _safe(text, "the request")


def encode_params(params: Mapping[str, str]) -> bytes:
    """Return path parameters as safe JSON."""
    return _safe(params, "the request") if params else b"{}"


def _safe(value: object, place: str) -> bytes:
    return escape_for_html(encode(value, place=place))


def _place(code: PageCode) -> str:
    return code.loader.place if code.loader is not None else code.module.source


def _layout_values(plan: ViewPlan, values: Values) -> tuple[bytes, bytes]:
    """Return ``layouts`` and ``layoutData``, encoded.

    With one layout that loads, its value is the merged one and is sent once.
    """
    own = [code for code in plan.layouts if code.module.source in values]
    if not own:
        return b"[%b]" % b",".join([b"null"] * len(plan.layouts)), b"{}"
    if len(own) == 1:
        marks = [b"true" if code is own[0] else b"null" for code in plan.layouts]
        return b"[%b]" % b",".join(marks), _safe(values[own[0].module.source], _place(own[0]))
    merged: dict[str, Any] = {}
    encoded: list[bytes] = []
    for code in plan.layouts:
        value = values.get(code.module.source)
        if value is None:
            encoded.append(b"null")
            continue
        encoded.append(_safe(value, _place(code)))
        merged.update(value)
    return b"[%b]" % b",".join(encoded), _safe(merged, _place(own[-1]))


def _opening_of_problem(problem: Problem, boundary: str) -> bytes:
    shown: dict[str, Any] = {
        "ok": False,
        "statusCode": problem.status,
        "error": problem.message,
        "type": problem.type,
    }
    if problem.data:
        shown["data"] = problem.data
    shown["boundary"] = boundary
    return _safe(shown, boundary)[:-1]
