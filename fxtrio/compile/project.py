"""All files of a project, read and checked: what `fx check` prints and `build` starts from."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from pathlib import Path

import attrs

from fxtrio.compile.checked_page import CheckedPage
from fxtrio.compile.problems import Problem
from fxtrio.compile.source import SourceText, read_source
from fxtrio.config import Config
from fxtrio.errors import FxtrioError
from fxtrio.manifest import ActionModule
from fxtrio.routes.action_files import find_action_files
from fxtrio.routes.errors import (
    NO_PAGES_FOLDER,
    PagesFolderMissing,
    RouteConflict,
    RouteNameInvalid,
)
from fxtrio.routes.scan import scan
from fxtrio.routes.suffixes import MARKDOWN_SUFFIX
from fxtrio.routes.tree import PageTree

Stamps = tuple[tuple[int, int, int] | None, ...]
"""Time, size and inode of files; None for one that is not there."""


@attrs.frozen
class CheckedProject:
    """A project's files, and every problem of them."""

    tree: PageTree
    pages: tuple[CheckedPage, ...]
    """By source."""

    problems: tuple[Problem, ...]
    """By place."""

    pages_dir: str = "pages"
    """The pages folder, relative to the project folder."""

    actions: tuple[ActionModule, ...] = ()
    """By source."""

    def has_same_python(self, other: CheckedProject) -> bool:
        """Return whether only UI halves, if anything, differ from those of ``other``."""
        return self.changed_python(other) == ()

    def changed_python(self, before: CheckedProject) -> tuple[str, ...] | None:
        """Return the page files whose Python half is another one than in ``before``.

        None when there are other files, or other modules of actions.
        """
        if (self.actions, self.tree) != (before.actions, before.tree):
            return None
        pairs = zip(self.pages, before.pages, strict=True)  # one for each source of the tree
        return tuple(
            page.module.source
            for page, one in pairs
            # The lines of the UI half are blank ones in the other.
            if page is not one
            and (page.module, page.python.rstrip()) != (one.module, one.python.rstrip())
        )

    @property
    def shared_actions(self) -> tuple[str, ...]:
        """The whole names of the actions of modules."""
        return tuple(f"{one.name}.{action}" for one in self.actions for action in one.actions)


def check_project(
    root: Path,
    config: Config,
    memory: CheckedTexts | None = None,
    changed: Collection[str] | None = None,
) -> CheckedProject:
    """Read and check every file below the pages folder of the project in ``root``.

    Page files that ``memory`` knows are not checked again, and of these only the files ``changed``
    are read; None stands for all.
    """
    memory = CheckedTexts() if memory is None else memory
    tree = scan(root, config)
    problems = tree_problems(tree, config)
    pages: list[CheckedPage] = []
    for source in tree.sources:
        done = None if changed is None or source in changed else memory.known(source, root)
        if done is None:
            text = read_source(root, source)
            if isinstance(text, Problem):
                memory.forget([source])
                problems.append(text)
                continue
            done = memory.check_page(text, root, config.pages_dir)
        page, found = done
        pages.append(page)
        problems += found
    modules = (*(api.source for api in tree.api), *tree.llms.values(), *tree.models)
    actions: tuple[ActionModule, ...] = ()
    if modules or any(find_action_files(root)):
        # Heavy: see the module.
        from fxtrio.compile.file_checks import check_actions, check_python

        for source in modules:
            problems += check_python(root, source)
        actions, found = check_actions(root)
        problems += found
    return CheckedProject(tree, tuple(pages), tuple(sorted(problems)), config.pages_dir, actions)


_Known = tuple[str, Stamps, tuple[CheckedPage, list[Problem]]]
"""The text of a page file, what its other files were, and what `check_page` has returned."""


@attrs.frozen(eq=False)
class CheckedTexts:
    """What came of page files: a right one is not checked again while its text is the same.

    A problem may be one of another module, which has been put right meanwhile. Holds as much as
    there are page files, whichever was checked last of each, and the same again of those that were
    edited and right: edits are taken back.
    """

    _known: dict[str, _Known] = attrs.field(factory=dict)
    """By source."""

    _former: dict[str, _Known] = attrs.field(factory=dict)
    """Those before that had no problem, by source."""

    def check_page(
        self, source: SourceText, root: Path | None = None, pages_dir: str = "pages"
    ) -> tuple[CheckedPage, list[Problem]]:
        """Return what `check_page` of `file_checks` does."""
        path = source.path
        last, former = self._known.get(path), self._former.get(path)
        read = (one for one in (last, former) if one is not None and one[0] == source.text)
        new = next((one for one in read if _is_right(one, root)), None)
        if new is None:
            # Heavy: see the module.
            from fxtrio.compile.file_checks import check_page

            right = None if last is None or last[2][1] else last[2][0]
            done = check_page(source, root, pages_dir, right)
            new = source.text, _stamps(done[0], root), done
        if last is not None and new is not last and not last[2][1]:
            self._former[path] = last
        self._known[path] = new
        return new[2]

    def known(self, source: str, root: Path) -> tuple[CheckedPage, list[Problem]] | None:
        """Return what came of a page file that is the same as before, and was right."""
        known = self._known.get(source)
        return known[2] if known is not None and _is_right(known, root) else None

    def good(self) -> dict[str, tuple[str, CheckedPage]]:
        """Return text and page, by source, of page files that have no problem and no other files.

        What came of those depends on nothing but their text.
        """
        return {
            source: (text, page)
            for source, (text, _, (page, problems)) in self._known.items()
            if not (problems or source.endswith(MARKDOWN_SUFFIX))
        }

    def add_good(self, pages: Mapping[str, tuple[str, CheckedPage]]) -> None:
        """Take over what `good` has returned for the same project, if only in another process."""
        for source, (text, page) in pages.items():
            self._known.setdefault(source, (text, (), (page, [])))

    def forget(self, sources: Iterable[str]) -> None:
        """Drop files that are deleted, or cannot be read."""
        for source in sources:
            self._known.pop(source, None)
            self._former.pop(source, None)


def _is_right(known: _Known, root: Path | None) -> bool:
    """Whether a page file had no problem, and its other files are the same."""
    _, stamps, (page, problems) = known
    return not problems and stamps == _stamps(page, root)


def _stamps(page: CheckedPage, root: Path | None) -> Stamps:
    """Return the state of the other files that a page depends on."""
    found: list[tuple[int, int, int] | None] = []
    for file in page.included:
        try:
            stat = (Path() if root is None else root).joinpath(file).stat()
        except OSError:
            found.append(None)
        else:
            found.append((stat.st_mtime_ns, stat.st_size, stat.st_ino))
    return tuple(found)


def tree_problems(tree: PageTree, config: Config) -> list[Problem]:
    """Return the problems of the names and places of a project's files."""
    problems = [_problem_of_tree(error, config) for error in tree.problems]
    if not (problems or tree.sources or tree.api):
        remedy = f"Write {config.pages_dir}/index.fxl, the page at '/'"
        problems.append(Problem(config.pages_dir, 0, 0, "there are no pages in it", remedy))
    return problems


def _problem_of_tree(error: FxtrioError, config: Config) -> Problem:
    if isinstance(error, RouteConflict):
        return Problem(error.place, 1, 1, error.cause, error.remedy)
    if isinstance(error, RouteNameInvalid):
        cause, _, remedy = error.cause.rpartition(". ")
        message = f"{error.name!r} {cause or error.cause}"
        return Problem(error.place, 1, 1, message, remedy if cause else "Rename it")
    if isinstance(error, PagesFolderMissing):
        return Problem(config.pages_dir, 0, 0, *NO_PAGES_FOLDER)
    return Problem(config.pages_dir, 0, 0, str(error), "Rename it")
