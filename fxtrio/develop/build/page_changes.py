"""How the pages of a project differ from what they were before a save."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import attrs

from fxtrio.compile.checked_page import CheckedPage


@attrs.frozen(eq=False, kw_only=True)
class PageChanges:
    """The pages that a save has changed. Created by `changes_since`."""

    before: Mapping[str, CheckedPage]
    """All pages as they were, by source."""

    changed: Mapping[str, CheckedPage]
    """Pages that are new, or other ones than before, by source."""

    deleted: Collection[str] = ()
    """Sources of pages that are no more."""

    structure: bool = False
    """Whether files came or went."""

    affected: Collection[str] | None = ()
    """Pages that show others when files came or went, by source; None for all."""


def changes_since(
    before: Mapping[str, CheckedPage], pages: Mapping[str, CheckedPage], *, structure: bool = False
) -> PageChanges:
    """Return how ``pages`` differ from those of ``before``, both by source.

    Where the ``structure`` has changed, ``pages`` are all that there are now.
    """
    return PageChanges(
        before=before,
        changed={one: page for one, page in pages.items() if before.get(one) != page},
        deleted=[one for one in before if one not in pages] if structure else (),
        structure=structure,
    )
