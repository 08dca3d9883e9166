"""The known name that a mistyped one is nearest to: for "Did you mean …?"."""

from __future__ import annotations

from collections.abc import Iterable


def nearest(name: str, known: Iterable[str], *, cutoff: float = 0.6) -> str | None:
    """Return the one of ``known`` that is most like ``name``; None if none is like it.

    ``cutoff`` is how similar it has to be: 1 is equal.
    """
    # Heavy, and only mistakes need it.
    from difflib import get_close_matches

    return next(iter(get_close_matches(name, tuple(known), n=1, cutoff=cutoff)), None)
