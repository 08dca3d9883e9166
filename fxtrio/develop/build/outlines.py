"""Which saves change nothing that checks can see. Used by the checks in the background.

Node reads each UI half and each module that is saved, and says by an outline what checks see of
it (`fxtrio/js/develop/updates/outline.js`): other words in JSX text have the same one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from pathlib import Path

import attrs

from fxtrio.compile.checked_page import CheckedPage
from fxtrio.compile.project import CheckedProject
from fxtrio.config import Config


@attrs.frozen(eq=False)
class CheckInput:
    """What a check looks at, besides the files that pages import."""

    project: CheckedProject
    config: Config
    outlines: Mapping[str, str]
    """Of UI halves, by source, as far as they are known."""

    def is_same(self, before: CheckInput) -> bool:
        """Return whether all texts are the same as in ``before``."""
        project, other = self.project, before.project
        return (project.pages, project.tree, self.config) == (
            other.pages,
            other.tree,
            before.config,
        )

    def looks_like(self, before: CheckInput, *, exact: Collection[str]) -> bool:
        """Return whether a check finds the same as in ``before``, at the same places.

        The page files ``exact`` must have the same text, not only the same outline: findings
        are shown in them, whose places may be others.
        """
        project, other = self.project, before.project
        if (project.tree, self.config) != (other.tree, before.config):
            return False
        if not project.has_same_python(other):
            return False
        pairs = zip(project.pages, other.pages, strict=True)  # one for each source of the tree
        return all(
            page is one or (page.whole == one.whole and self._is_alike(page, one, before, exact))
            for page, one in pairs
        )

    def _is_alike(
        self, page: CheckedPage, one: CheckedPage, before: CheckInput, exact: Collection[str]
    ) -> bool:
        if page.ui == one.ui:
            return True
        source = page.module.source
        outline = self.outlines.get(source)
        return (
            outline is not None and outline == before.outlines.get(source) and source not in exact
        )


@attrs.define(eq=False)
class Outlines:
    """The outlines of the UI halves of one project."""

    _known: dict[str, tuple[str, str]] = attrs.field(factory=dict)
    """Text and outline, by source."""

    _modules: dict[str, str] = attrs.field(factory=dict)
    """Outlines of the modules that page files import, by path relative to the project folder."""

    def note(self, pages: Mapping[str, CheckedPage], outlines: Mapping[str, str | None]) -> None:
        """Remember the ``outlines`` of ``pages``, both by source."""
        for source, outline in outlines.items():
            if outline is not None and source in pages:
                self._known[source] = pages[source].ui, outline

    def seen_otherwise(
        self, files: Iterable[str], outlines: Mapping[str, str | None], root: Path
    ) -> tuple[str, ...]:
        """Return those of ``files`` in which checks may see something else than before.

        ``files`` are relative to ``root``, and have changed; ``outlines`` has those of modules by
        absolute path.
        """
        seen = []
        for file in files:
            outline = outlines.get(str(root / file))
            if outline is None:
                self._modules.pop(file, None)
                seen.append(file)
            elif self._modules.get(file) != outline:
                self._modules[file] = outline
                seen.append(file)
        return tuple(seen)

    def check_input(self, project: CheckedProject, config: Config) -> CheckInput:
        """Return what a check of ``project`` looks at."""
        known = {}
        for page in project.pages:
            text, outline = self._known.get(page.module.source, (None, ""))
            if text == page.ui:
                known[page.module.source] = outline
        return CheckInput(project, config, known)
