"""What modules and apps keep for as long as they live: looked through for `restart_reasons`.

Nothing of a value is read but its type: an expression of a query has every attribute, and a
proxy of a request raises what it likes.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Iterator
from functools import lru_cache
from gc import get_referents
from itertools import islice

import attrs

_MOST_OF_ONE = 1000  # values of one container: those of an app are mostly alike
_MOST_OF_HOLDER = 5000
_MOST = 50_000  # in all: they take some hundredths of a second
_CONTAINERS = (dict, list, tuple, set, frozenset, deque)
_CACHE = type(lru_cache(lambda: None))


@attrs.define(eq=False)
class LiveInstances:
    """Looks into holders, one after the other. Objects beyond its bounds are not found."""

    _modules: Collection[str]
    """Names of modules: into objects of their classes it looks, and into the classes."""

    _seen: set[int] = attrs.field(factory=set)

    def search(self, values: Iterable[object]) -> Iterator[object]:
        """Yield ``values`` and what they contain: in containers, caches and objects."""
        waiting = deque(values)
        most = min(len(self._seen) + _MOST_OF_HOLDER, _MOST)
        while waiting and len(self._seen) < most:
            value = waiting.popleft()
            if id(value) not in self._seen:
                self._seen.add(id(value))
                yield value
                waiting.extend(islice(self._content(value), _MOST_OF_ONE))

    def _content(self, value: object) -> Iterable[object]:
        kind = type(value)
        is_own = getattr(value if issubclass(kind, type) else kind, "__module__", "")
        if issubclass(kind, _CONTAINERS) or kind is _CACHE or is_own in self._modules:
            return get_referents(value)
        return ()
