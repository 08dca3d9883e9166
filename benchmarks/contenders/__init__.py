"""Everybody who takes part. A new framework is a file here and an app in ``apps/``."""

from __future__ import annotations

from benchmarks.contenders import django, fastapi, fxtrio, nextjs, pyxle, starlette, sveltekit
from benchmarks.contenders.model import Command, Contender

_NAMED = frozenset([django.FAMILY, fastapi.FAMILY, sveltekit.FAMILY])
"""Those that take part only when they are named: each makes a run longer."""

__all__ = ["Command", "Contender", "choose"]


def choose(names: tuple[str, ...], *, with_next: bool) -> tuple[Contender, ...]:
    """Return the contenders whose name or family is among ``names``; all when it is empty.

    Next.js takes part only when it is named or ``with_next`` is set, and Django, FastAPI and
    SvelteKit only when they are named. Raises ValueError for an unknown name.
    """
    everybody = (
        *fxtrio.contenders(),
        *pyxle.contenders(),
        *starlette.contenders(),
        *nextjs.contenders(),
        *django.contenders(),
        *fastapi.contenders(),
        *sveltekit.contenders(),
    )
    known = {contender.name for contender in everybody} | {c.family for c in everybody}
    unknown = [name for name in names if name not in known]
    if unknown:
        raise ValueError(
            f"{', '.join(unknown)}: no such framework. Known: {', '.join(sorted(known))}."
        )
    if not names:
        absent = _NAMED if with_next else {*_NAMED, nextjs.FAMILY}
        return tuple(c for c in everybody if c.family not in absent)
    return tuple(c for c in everybody if {c.name, c.family} & set(names))
