"""URL paths → routes. Built once for an app, searched for every request."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Generic, TypeVar
from urllib.parse import unquote

import msgspec

from fxtrio.routes.pattern import Kind, parse_pattern

T = TypeVar("T")
Params = dict[str, str]


class _Node(msgspec.Struct, Generic[T]):
    """What may follow a segment, in the order in which it is tried."""

    literals: dict[str, _Node[T]] = msgspec.field(default_factory=dict)
    param: _Node[T] | None = None
    leaf: _Leaf[T] | None = None
    """For paths that end here."""
    rest: _Leaf[T] | None = None
    optional_rest: _Leaf[T] | None = None


class _Leaf(msgspec.Struct, Generic[T], frozen=True):
    route: T
    params: tuple[tuple[str, int], ...]
    """Names of ``[x]`` and the index of their segment."""
    rest: str = ""
    """Name of ``[...x]`` or ``[[...x]]``; empty without one."""
    depth: int = 0
    """Index of the first segment that ``rest`` takes."""


class Router(Generic[T]):
    """Finds the most specific route for a path.

    Segment by segment a literal goes before ``[x]``, ``[x]`` before ``[...x]`` and that
    before ``[[...x]]``. Time grows with the path and not with the number of routes, except
    for routes that begin alike. Safe to share: it never changes.
    """

    def __init__(self, routes: Iterable[tuple[str, T]]) -> None:
        """Take (pattern, route) pairs in any order.

        Raises ValueError for a pattern that is malformed or, but for the names of its
        parameters, there twice.
        """
        self._literal: dict[str, T] = {}
        self._root: _Node[T] = _Node()
        for pattern, route in routes:
            self._add(pattern, route)

    def match(self, path: str, raw_path: bytes | None = None) -> tuple[T, Params] | None:
        """Return the route for ``path`` and its parameters, or None.

        ``path`` is percent-decoded and begins with a slash; ``raw_path`` is the same path
        as it was sent: with it an encoded slash (``%2F``) is part of its segment. Paths
        with a slash at the end, an empty segment, ``.`` or ``..`` match nothing. The value
        of ``[...x]`` is its segments joined by slashes, that of an absent ``[[...x]]`` "".
        """
        if raw_path is not None and (b"%2F" in raw_path or b"%2f" in raw_path):
            return self._match_raw(raw_path)
        if path in self._literal:
            return self._literal[path], {}
        if path[:1] != "/" or "//" in path:
            return None
        segments = path[1:].split("/") if len(path) > 1 else []
        return self._match_segments(segments)

    def is_literal(self, path: str) -> bool:
        """Whether a route without parameters has ``path``."""
        return path in self._literal

    def canonical(self, path: str) -> str | None:
        """Return ``path`` without its one slash at the end when that path has a route.

        The result is decoded like ``path``: quote it before it goes into a `Location`.
        """
        cut = path[:-1]
        if path[-1:] == "/" and cut[-1:] not in ("", "/") and self.match(cut) is not None:
            return cut
        return None

    def _match_raw(self, raw_path: bytes) -> tuple[T, Params] | None:
        try:
            text = raw_path.decode("ascii")
            segments = [unquote(part, errors="strict") for part in text[1:].split("/")]
        except ValueError:  # not ASCII, or not UTF-8 after decoding
            return None
        return self._match_segments(segments) if text[:1] == "/" else None

    def _match_segments(self, segments: list[str]) -> tuple[T, Params] | None:
        if segments and ("" in segments or "." in segments or ".." in segments):
            return None
        leaf = _find(self._root, segments, 0)
        if leaf is None:
            return None
        params = {name: segments[index] for name, index in leaf.params}
        if leaf.rest:
            params[leaf.rest] = "/".join(segments[leaf.depth :])
        return leaf.route, params

    def _add(self, pattern: str, route: T) -> None:
        segments = parse_pattern(pattern)
        node = self._root
        params: list[tuple[str, int]] = []
        for index, segment in enumerate(segments):
            if segment.kind is Kind.LITERAL:
                node = node.literals.setdefault(segment.text, _Node())
            elif segment.kind is Kind.PARAM:
                params.append((segment.text, index))
                node.param = node.param or _Node()
                node = node.param
            else:
                name = "rest" if segment.kind is Kind.REST else "optional_rest"
                leaf = _Leaf(route, tuple(params), segment.text, index)
                return self._set(node, name, leaf, pattern)
        if not params:
            self._literal[pattern] = route
        return self._set(node, "leaf", _Leaf(route, tuple(params)), pattern)

    def _set(self, node: _Node[T], name: str, leaf: _Leaf[T], pattern: str) -> None:
        if getattr(node, name) is not None:
            raise ValueError(f"{pattern!r} is there twice")
        setattr(node, name, leaf)


BELOW = "fx-below"
"""The name of what `folder_router` finds behind a folder; no page has such a parameter."""


def folder_router(folders: Mapping[str, T]) -> Router[T]:
    """Return a router that finds the innermost folder a path lies in.

    Keys are patterns of folders: ``/blog`` takes ``/blog``, ``/blog/x`` and ``/blog/x/y``.
    """
    routes = []
    for pattern, value in folders.items():
        segments = parse_pattern(pattern)
        if not segments or segments[-1].kind < Kind.REST:
            below = f"[[...{BELOW}]]"
            pattern = f"/{below}" if pattern == "/" else f"{pattern}/{below}"
        routes.append((pattern, value))
    return Router(routes)


def _find(node: _Node[T], segments: list[str], index: int) -> _Leaf[T] | None:
    """Return the most specific leaf for ``segments[index:]``; each node is tried once."""
    if index == len(segments):
        return node.leaf or node.optional_rest
    below = node.literals.get(segments[index])
    if below is not None:
        found = _find(below, segments, index + 1)
        if found is not None:
            return found
    if node.param is not None:
        found = _find(node.param, segments, index + 1)
        if found is not None:
            return found
    return node.rest or node.optional_rest
