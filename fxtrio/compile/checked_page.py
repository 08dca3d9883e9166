"""One page file in its halves, checked. Created by `file_checks`."""

from __future__ import annotations

import re
from functools import cached_property

import attrs

from fxtrio.manifest import PageModule

_SUSPENSE = re.compile(r"\bSuspense\b")


@attrs.frozen
class CheckedPage:
    """One page file in its two halves."""

    module: PageModule
    python: str
    ui: str
    whole: bool = True
    """Whether the file divides into its halves without a problem."""

    markdown: str = ""
    """What agents get of a page in Markdown."""

    included: tuple[str, ...] = ()
    """Other files that a page in Markdown is made of, relative to the project folder."""

    @cached_property
    def suspends(self) -> bool:
        """Whether its UI names Suspense, so that it must be rendered as a stream.

        A page in Markdown has no code, only text that may name it.
        """
        return not self.markdown and _SUSPENSE.search(self.ui) is not None
