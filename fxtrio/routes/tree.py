"""What the files of a pages folder mean together. Created by `scan`, read by `compile`.

Sources are POSIX strings relative to the project folder: ``pages/blog/[id].fxl``.
"""

from __future__ import annotations

from functools import cached_property

import attrs
import msgspec

from fxtrio.errors import FxtrioError


class LayoutFile(msgspec.Struct, frozen=True):
    """A `layout.fxl` or `template.fxl`."""

    source: str

    is_template: bool = False
    """A template is made anew on every navigation; a layout stays."""


class BoundaryFile(msgspec.Struct, frozen=True):
    """An `error.fxl` or `not-found.fxl` with what stands around it."""

    source: str

    layouts: tuple[LayoutFile, ...] = ()
    """Around it, outermost first; those of its own folder too."""

    errors: tuple[BoundaryFile, ...] = ()
    """Error files that stand in when this one fails, nearest first."""


class PageFile(msgspec.Struct, frozen=True):
    """A page with all that applies to it, nearest ancestor by source folder."""

    source: str

    pattern: str
    """For example ``/blog/[id]``."""

    layouts: tuple[LayoutFile, ...] = ()
    """Outermost first; the template of a folder follows its layout."""

    errors: tuple[BoundaryFile, ...] = ()
    """Nearest first. When the root folder has both a layout and an `error.fxl`, the last
    one is that file again without layouts: it stands in when the root layout fails."""

    not_found: tuple[BoundaryFile, ...] = ()
    """Nearest first."""

    loading: str | None = None
    """Source of the nearest `loading.fxl`."""


class ApiFile(msgspec.Struct, frozen=True):
    """A Python file of an `api` folder."""

    source: str
    pattern: str


@attrs.frozen(kw_only=True)
class PageTree:
    """Everything a pages folder holds. With ``problems`` it must not be built."""

    pages: tuple[PageFile, ...] = ()
    """In order of specificity: of two that match a path, the first answers."""

    api: tuple[ApiFile, ...] = ()
    """In order of specificity."""

    not_found: dict[str, BoundaryFile] = attrs.field(factory=dict)
    """For unmatched URLs: pattern of a folder (``/`` or ``/blog``) → its not-found file."""

    llms: dict[str, str] = attrs.field(factory=dict)
    """Source folder (``pages/blog``) → the `llms.py` that stands in it."""

    markdown: dict[str, str] = attrs.field(factory=dict)
    """Source of a page → the `.md` file beside it."""

    models: tuple[str, ...] = ()
    """Files `content.py`, whose `FrontMatter` checks pages in Markdown."""

    problems: tuple[FxtrioError, ...] = ()
    """RouteConflict and RouteNameInvalid, in the order of their files."""

    @cached_property
    def sources(self) -> tuple[str, ...]:
        """All page files that are part of the app, those in Markdown too, sorted, each once."""
        found: set[str] = set()
        for page in self.pages:
            found.add(page.source)
            found.update(layout.source for layout in page.layouts)
            found.update([page.loading] if page.loading else [])
            for boundary in (*page.errors, *page.not_found):
                found.update(_sources(boundary))
        for boundary in self.not_found.values():
            found.update(_sources(boundary))
        return tuple(sorted(found))


def _sources(boundary: BoundaryFile) -> set[str]:
    found = {boundary.source, *(layout.source for layout in boundary.layouts)}
    return found.union(*map(_sources, boundary.errors))
