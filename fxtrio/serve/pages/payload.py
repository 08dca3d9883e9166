"""The payload of a page: one JSON object, encoded once, for render, hydration and navigation.

Shape (keys in this order): ``ok``, ``statusCode``, for an error ``error`` (the
message), ``type``, ``data`` and ``boundary``, then ``routePath``,
``requestedPath``, ``page``, ``params``, ``props`` (``data``, ``layoutData``),
``layouts``, ``head``, ``promises``, ``tags``, ``ttl``, and ``actionData`` after a failed form.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from math import ceil
from typing import Any

import msgspec

from fxtrio.encode import encode, encode_for_html
from fxtrio.errors import ResultInvalid
from fxtrio.manifest import HeadNode
from fxtrio.serve.pages.functions.server_functions import PageCode, line_of
from fxtrio.serve.pages.loaders import Values
from fxtrio.serve.pages.plan import ViewPlan, has_title
from fxtrio.serve.request.response.translated import translated

_OPENING = b'{"ok":true,"statusCode":%d'

_CACHED_HEADS = 1024
"""Results of dynamic ``HEAD`` functions that are cached in parsed form, by their text."""


class HeadResultInvalid(ResultInvalid):
    """A ``HEAD`` function returned neither HTML nor a list of it."""

    remedy = "Return a str of HTML, a list of them, or None"


class PageProblem(msgspec.Struct, frozen=True):
    """Why an error or not-found view is rendered."""

    message: str
    status: int
    type: str
    data: Mapping[str, Any] = msgspec.field(default_factory=dict)
    request_id: str = ""
    """The id of the request whose log has the reason; "" for what a visitor can put right."""

    retry_after: int = 1
    """When to request the page again after a 503 (seconds)."""


class Content(msgspec.Struct, frozen=True):
    """The content of a view."""

    values: Values
    status: int
    problem: PageProblem | None = None
    """Why an error or not-found view is rendered."""

    action_data: Mapping[str, Any] | None = None
    """The result of a form's action."""

    deferred: bool = False
    """Whether the page's own data follows in a stream."""

    promises: tuple[str, ...] = ()
    """Names of the deferred values: "page:reviews", or with the index of a layout, "0:menu".

    One that is not in the data follows in the response.
    """

    only: frozenset[str] | None = None
    """Names of the values that the client needs; None for all."""

    document: bytes = b""
    """The id by which the browser ends the response of a document; empty for others."""

    within: float = 0
    """The time in which the deferred values of such a document have come (seconds)."""


class Location(msgspec.Struct, frozen=True):
    """How the URL of a page names it, as JSON that is safe in HTML."""

    route: bytes
    """The pattern; ``null`` for an unmatched URL."""

    requested: bytes
    """Path and query as the client sent them."""

    params: bytes


class EncodedValues(msgspec.Struct, frozen=True):
    """What the loaders of a view have decided of its payload, encoded."""

    data: bytes
    layouts: bytes
    layout_data: bytes
    head: bytes


def _parse_head(html: str) -> tuple[HeadNode, ...]:
    # Heavy, and only pages with a function HEAD need it.
    from fxtrio.head import parse_head

    return tuple(parse_head(html))


class PayloadEncoder:
    """Encodes payloads. One for each app: it caches parsed heads."""

    def __init__(self) -> None:
        self._parse: Callable[[str], tuple[HeadNode, ...]] = functools.lru_cache(_CACHED_HEADS)(
            _parse_head
        )

    def encode(
        self,
        plan: ViewPlan,
        content: Content,
        location: Location,
        *,
        ttl: float = 0,
        nonce: bytes = b"",
    ) -> bytes:
        """Return the payload, safe inside HTML.

        ``ttl`` is in seconds; ``nonce`` is the placeholder for scripts of the page. Raises
        NotSerializable, and whatever a ``HEAD`` function raises.
        """
        values = self.encode_values(plan, content.values, content.only)
        return self.join(plan, content, location, values, ttl=ttl, nonce=nonce)

    def encode_values(
        self, plan: ViewPlan, values: Values, only: frozenset[str] | None = None
    ) -> EncodedValues:
        """Return what the loaders' values come to in a payload. Raises what `encode` raises.

        ``only`` are the names of those that the client needs; None for all.
        """
        all_values = values
        if only is not None:
            values = _only(only, values, plan)
        data = encode_page_data(plan, values)
        layouts, layout_data = plan.no_layouts, b"{}"
        if plan.loads_layouts:
            layouts, layout_data = _layout_values(plan, values)
        head = plan.static_head
        if head is None:
            head = encode_for_html(self._head(plan, all_values), plan.source)
        return EncodedValues(data, layouts, layout_data, head)

    def join(
        self,
        plan: ViewPlan,
        content: Content,
        location: Location,
        loaded: EncodedValues,
        *,
        ttl: float = 0,
        nonce: bytes = b"",
        tags: tuple[str, ...] = (),
    ) -> bytes:
        """Return the payload, as `encode` does, of values that are encoded already.

        ``tags`` are those of its loaders: the client router, which caches it, looks at them.
        """
        problem, source = content.problem, plan.source
        if problem is None:
            opening = _OPENING % content.status
        else:
            opening = _opening_of_problem(problem, source)
        parts = [opening, _before_data(plan, location), loaded.data, _after_data(loaded)]
        if content.promises:
            parts += (b',"promises":', encode_for_html(content.promises, source))
        if tags:
            parts += (b',"tags":', encode_for_html(tags, source))
        # The last one of a navigation payload: a cached response counts it down.
        parts.append(b',"ttl":%g' % ttl if ttl else b',"ttl":0')
        if nonce:
            parts += (b',"nonce":"', nonce, b'"')
        if content.action_data is not None or content.document or content.deferred:
            parts += _of_document(content, source)
        parts.append(b"}")
        return b"".join(parts)

    def around_data(self, plan: ViewPlan, location: Location) -> tuple[bytes, bytes] | None:
        """Return what is before and behind the page's own data in payloads of navigation.

        It begins behind the status. None where that depends on more than the data.
        """
        if plan.loads_layouts or plan.static_head is None or plan.revalidate:
            return None
        rest = _after_data(EncodedValues(b"", plan.no_layouts, b"{}", plan.static_head))
        return _before_data(plan, location), rest + b',"ttl":0}'

    def _head(self, plan: ViewPlan, values: Values) -> list[Any]:
        """Return the nodes of each level, from static ``HEAD``s and ``HEAD`` functions."""
        levels: list[Any] = []
        for code in plan.chain:
            if code.head is None:
                levels.append(code.module.head)
                continue
            head = code.head(values.get(code.module.source, {}))
            texts = [head] if isinstance(head, str) else (head or ())
            if not isinstance(texts, (list, tuple)) or not all(isinstance(t, str) for t in texts):
                line = line_of(code.head)
                raise HeadResultInvalid(f"{code.module.source}:{line}: HEAD()", head)
            levels.append([node for text in texts for node in self._parse(text)])
        if plan.fallback and not has_title(levels):
            levels[0] = (*plan.fallback, *levels[0])
        return levels


def _before_data(plan: ViewPlan, location: Location) -> bytes:
    return b',"routePath":%b,"requestedPath":%b,"page":%b,"params":%b,"props":{"data":' % (
        location.route,
        location.requested,
        plan.page,
        location.params,
    )


def _after_data(loaded: EncodedValues) -> bytes:
    return b',"layoutData":%b},"layouts":%b,"head":%b' % (
        loaded.layout_data,
        loaded.layouts,
        loaded.head,
    )


def payload_around(around: tuple[bytes, bytes], status: int, data: bytes) -> bytes:
    """Return the payload of navigation to a page, by `PayloadEncoder.around_data`."""
    return b"".join((_OPENING % status, around[0], data, around[1]))


def encode_page_data(plan: ViewPlan, values: Values) -> bytes:
    """Return the page's own data as JSON that is safe inside HTML. Raises NotSerializable."""
    data = values.get(plan.source)
    return b"{}" if data is None else plan.data.encode_for_html(data)


def _only(names: frozenset[str], values: Values, plan: ViewPlan) -> Values:
    return {
        source: {key: value for key, value in data.items() if plan.name_of(source, key) in names}
        for source, data in values.items()
    }


def encode_data(plan: ViewPlan, values: Values) -> bytes:
    """Return the page's own data as JSON. Raises NotSerializable."""
    return encode(values.get(plan.inner.module.source, {}), place=_place(plan.inner))


def encode_requested(text: str) -> bytes:
    """Return a string of the request (path, parameter map) as safe JSON."""
    return encode_for_html(text, "the request")


def encode_params(params: Mapping[str, str]) -> bytes:
    """Return path parameters as safe JSON."""
    return encode_for_html(params, "the request") if params else b"{}"


def _place(code: PageCode) -> str:
    return code.loader.place if code.loader is not None else code.module.source


def _layout_values(plan: ViewPlan, values: Values) -> tuple[bytes, bytes]:
    """Return ``layouts`` and ``layoutData``, encoded.

    With one layout that loads, its value is the merged one and is sent once.
    """
    own = [code for code in plan.layouts if code.module.source in values]
    if not own:
        return plan.no_layouts, b"{}"
    if len(own) == 1:
        marks = [b"true" if code is own[0] else b"null" for code in plan.layouts]
        only = values[own[0].module.source]
        return b"[%b]" % b",".join(marks), encode_for_html(only, _place(own[0]))
    merged: dict[str, Any] = {}
    encoded: list[bytes] = []
    for code in plan.layouts:
        value = values.get(code.module.source)
        if value is None:
            encoded.append(b"null")
            continue
        encoded.append(encode_for_html(value, _place(code)))
        merged.update(value)
    return b"[%b]" % b",".join(encoded), encode_for_html(merged, _place(own[-1]))


def _of_document(content: Content, source: str) -> Iterator[bytes]:
    """Yield what only the payload of a document has."""
    if content.action_data is not None:
        yield b',"actionData":'
        yield encode_for_html(content.action_data, source)
    if content.document:
        yield b',"document":"%b","within":%d' % (content.document, ceil(content.within))
    if content.deferred:
        yield b',"deferred":true'


def _opening_of_problem(problem: PageProblem, boundary: str) -> bytes:
    fields: dict[str, Any] = {
        "ok": False,
        "statusCode": problem.status,
        "error": translated(problem.message),
        "type": problem.type,
    }
    if problem.data:
        fields["data"] = problem.data
    if problem.request_id:
        fields["requestId"] = problem.request_id
    fields["boundary"] = boundary
    return encode_for_html(fields, boundary)[:-1]
