"""Page files as `fx dev` reads them: one that is wrong is what it was before, or says why."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from pathlib import Path

import attrs
import msgspec
import trio

from fxtrio.atomic_write import write_whole
from fxtrio.build_folder import UNUSABLE
from fxtrio.compile.checked_page import CheckedPage
from fxtrio.compile.problems import CompileFailed, Problem, placed
from fxtrio.compile.project import CheckedProject, CheckedTexts, check_project
from fxtrio.compile.source import SourceText, file_bytes, read_bytes
from fxtrio.config import Config
from fxtrio.develop.build.code_stamp import code_stamp
from fxtrio.develop.reload.watcher import has_inotify
from fxtrio.develop.report.overlay_errors import OverlayProblem, overlay_problem
from fxtrio.manifest import FOLDERS, PageModule
from fxtrio.routes.action_files import is_action_file

_HALF_WRITTEN = 0.03  # seconds after which a file that does not parse is read once more


@attrs.define(eq=False)
class PageFiles:
    """Those of the project in ``root``."""

    root: Path
    _texts: CheckedTexts = attrs.field(factory=CheckedTexts)
    _pages_dir: str = "pages"
    _broken: dict[str, list[Problem]] = attrs.field(factory=dict)
    _known: list[Problem] = attrs.field(factory=list)
    _stored: GoodPages | None = None
    """What is on the disk for the next `fx dev`."""

    async def read_all(
        self,
        config: Config,
        known: Mapping[str, CheckedPage],
        changed: Collection[str] | None = None,
    ) -> CheckedProject:
        """Return what `read_all_now` does, from a thread."""
        return await trio.to_thread.run_sync(self.read_all_now, config, known, changed)

    def read_all_now(
        self,
        config: Config,
        known: Mapping[str, CheckedPage],
        changed: Collection[str] | None = None,
    ) -> CheckedProject:
        """Return the project with all page files; ``known`` are those of before, by source.

        Of those that have been read before only the files ``changed`` are read; None stands for
        all. Raises CompileFailed for problems of more than one page.
        """
        if self._stored is None:  # the first time
            self._stored = find_stored(self.root, config.pages_dir)
            self._texts.add_good(self._stored)
        self._pages_dir = config.pages_dir
        project = check_project(self.root, config, self._texts, changed)
        pages = {page.module.source: page for page in project.pages}
        broken: dict[str, list[Problem]] = {}
        for problem in project.problems:
            if problem.path in project.tree.sources or is_action_file(problem.path):
                broken.setdefault(problem.path, []).append(problem)
        others = [problem for problem in project.problems if problem.path not in broken]
        if others:
            raise CompileFailed(placed(others, self.root))
        for source, problems in broken.items():
            if is_action_file(source):
                continue
            pages[source] = known.get(source) or broken_page(source, placed(problems, self.root))
        self._broken = broken
        return attrs.evolve(project, pages=tuple(pages[one] for one in sorted(pages)))

    async def read(self, sources: Collection[str]) -> dict[str, CheckedPage]:
        """Read ``sources`` again, and return the valid ones.

        What is wrong is read once more a little later, unless the system reports whole files.
        """
        good = await trio.to_thread.run_sync(self.read_now, tuple(sources))
        wrong = [source for source in sources if source not in good]
        if wrong and not has_inotify():
            await trio.sleep(_HALF_WRITTEN)
            good |= await trio.to_thread.run_sync(self.read_now, wrong)
        return good

    def read_now(self, sources: Iterable[str]) -> dict[str, CheckedPage]:
        """Read ``sources`` again, and return the valid ones. For a thread."""
        good: dict[str, CheckedPage] = {}
        for source in sources:
            page, problems = self._check(source)
            if page is None:
                self._texts.forget([source])
            if problems or page is None:
                self._broken[source] = problems
            else:
                self._broken.pop(source, None)
                good[source] = page
        return good

    def forget(self, sources: Iterable[str]) -> None:
        """Forget deleted files."""
        self._texts.forget(sources)

    def keep(self) -> None:
        """Write to the disk what came of the files, for the next `fx dev`. For a thread."""
        good = self._texts.good()
        if good != self._stored:
            with suppress(OSError):  # of a full disk: it starts all the same
                keep(good, self.root, self._pages_dir)
            self._stored = good

    @property
    def broken(self) -> tuple[str, ...]:
        """The files with problems, by source: pages, and modules of actions."""
        return tuple(self._broken)

    def wrong(self) -> list[Problem]:
        """Return the present problems, for the terminal."""
        return [one for found in self._broken.values() for one in placed(found, self.root)]

    def news(self) -> list[Problem]:
        """Return the problems that are new since the last call."""
        before, self._known = self._known, self.wrong()
        return [problem for problem in self._known if problem not in before]

    def overlay_problems(self) -> list[OverlayProblem]:
        """Return the present problems, for browsers."""
        return [overlay_problem(one, self.root) for found in self._broken.values() for one in found]

    def _check(self, source: str) -> tuple[CheckedPage | None, list[Problem]]:
        try:
            text = read_bytes(file_bytes(self.root / source), source)
        except OSError as error:
            text = Problem(source, 1, 1, f"it cannot be read: {error.strerror}", "Save it again")
        if not isinstance(text, SourceText):
            return None, [text]
        return self._texts.check_page(text, self.root, self._pages_dir)


def other_servers(
    changed: Mapping[str, CheckedPage], known: Mapping[str, CheckedPage], *, markdown: bool
) -> list[str]:
    """Return those of ``changed`` of which the server has something else than of ``known``.

    With ``markdown`` it has what agents get of them.
    """
    return [
        one
        for one, page in changed.items()
        if one not in known
        or (page.python.rstrip(), page.module)  # a longer UI half is lines more
        != (known[one].python.rstrip(), known[one].module)
        or (markdown and page.markdown != known[one].markdown)
    ]


def broken_page(source: str, problems: Iterable[Problem]) -> CheckedPage:
    """Return what stands in for a page file that is wrong and has never been right."""
    text = json.dumps("\n".join(problem.head for problem in problems))
    ui = f"export default function Broken() {{\n  throw new Error({text});\n}}\n"
    return CheckedPage(PageModule(source=source), "", ui)


_FILE = FOLDERS["development"] / "checked.msgpack"


GoodPages = dict[str, tuple[str, CheckedPage]]
"""Text and what came of it, by source: what `CheckedTexts.good` returns.

They are stored for the next `fx dev`, which checks only files with other texts. A page without a
problem depends on nothing but its text, and on the code that checks it. Pages in Markdown have
other files in them, and are made anew.
"""


@attrs.frozen
class _Stored:
    written_by: str
    """See `code_stamp`."""

    pages_dir: str
    pages: GoodPages


def find_stored(root: Path, pages_dir: str) -> GoodPages:
    """Return what an earlier process has stored of the project in ``root``."""
    try:
        stored = msgspec.msgpack.decode((root / _FILE).read_bytes(), type=_Stored)
    except UNUSABLE:
        return {}
    is_current = (stored.written_by, stored.pages_dir) == (code_stamp(), pages_dir)
    return stored.pages if is_current else {}


def keep(pages: GoodPages, root: Path, pages_dir: str) -> None:
    """Write ``pages`` for the next process. Raises OSError."""
    stored = _Stored(code_stamp(), pages_dir, pages)
    write_whole(root / _FILE, msgspec.msgpack.encode(stored), lasting=False)
