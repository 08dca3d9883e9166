"""Everybody who takes part. A new framework is a file here and an app in ``apps/``."""

from __future__ import annotations

from benchmarks.contenders import fxtrio, nextjs, pyxle, starlette
from benchmarks.contenders.model import Command, Contender

__all__ = ["Command", "Contender", "choose"]


def choose(names: tuple[str, ...], *, with_next: bool) -> tuple[Contender, ...]:
    """Return the contenders whose name or family is among ``names``; all when it is empty.

    Next.js takes part only when it is named or ``with_next`` is set. Raises ValueError
    for an unknown name.
    """
    everybody = (
        *fxtrio.contenders(),
        *pyxle.contenders(),
        *starlette.contenders(),
        *nextjs.contenders(),
    )
    known = {contender.name for contender in everybody} | {c.family for c in everybody}
    unknown = [name for name in names if name not in known]
    if unknown:
        raise ValueError(
            f"{', '.join(unknown)}: no such framework. Known: {', '.join(sorted(known))}."
        )
    if not names:
        return tuple(c for c in everybody if with_next or c.family != nextjs.FAMILY)
    return tuple(c for c in everybody if {c.name, c.family} & set(names))
