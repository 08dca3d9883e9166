"""The project as `fx dev` keeps it: compiled file by file, and handed to whoever needs it.

A change goes to the process that serves (Python), and then to Node, which updates browsers.
A file that has become invalid changes nothing but its problems.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any

import attrs
import trio

from fxtrio.compile.build_steps import bundle_plan, planned_site
from fxtrio.compile.bundling.bundle import BundleResult, encode_plan, read_result
from fxtrio.compile.bundling.toolchain import ensure_toolchain
from fxtrio.compile.checked_page import CheckedPage
from fxtrio.compile.problems import Problem
from fxtrio.compile.project import CheckedProject
from fxtrio.compile.views import PlannedSite
from fxtrio.config import Config, load_config, renew_env_files
from fxtrio.develop.build.applied import Applied, SwapCode
from fxtrio.develop.build.background_checks import BackgroundChecks
from fxtrio.develop.build.build_files import BuildFiles
from fxtrio.develop.build.node_answer import find_answer, store_answer
from fxtrio.develop.build.openapi_refresh import DescribedLater
from fxtrio.develop.build.page_cache import PageFiles, other_servers
from fxtrio.develop.build.page_changes import PageChanges, changes_since
from fxtrio.develop.build.pending_code import PendingCode
from fxtrio.develop.build.site_order import added_views, joined_result, pages_beside
from fxtrio.develop.processes.launch import Ahead, ViteSettings
from fxtrio.develop.processes.messages import Swap, Swapped
from fxtrio.develop.reload.classify_changes import Sorted, sort_changes
from fxtrio.develop.reload.ignored import BUILT
from fxtrio.develop.reload.watcher import Changes, has_inotify
from fxtrio.develop.report.overlay_errors import OverlayProblem
from fxtrio.develop.vite.node_messages import UpdateResult, change_order
from fxtrio.develop.vite.vite import OrderVoid
from fxtrio.develop.vite.vite_supervisor import ViteSupervisor
from fxtrio.errors import FxtrioError, display_path
from fxtrio.routes.suffixes import MARKDOWN_SUFFIX

_WARM = 3  # pages that are prepared before they are requested
_FEW = 8
"""Files that are read without a thread: on a busy machine that gets its turn some milliseconds
later, which is longer than it reads."""

_NONE_WRONG: Mapping[str, list[OverlayProblem]] = {}


class DevProject:
    """One project. `prepare` comes first; its tasks run in ``nursery``."""

    def __init__(
        self,
        *,
        root: Path,
        sockets: Path,
        nursery: trio.Nursery,
        report: Callable[[str], None],
        found: Callable[[Problem], None],
        ahead: Ahead | None = None,
        variables: dict[str, str] | None = None,
    ) -> None:
        """Compile nothing yet.

        ``sockets`` is a folder for the sockets of Node, into which nobody else may look;
        ``found`` shows in the terminal what checks find; ``variables`` are what the `.env` files
        have set in the environment.
        """
        self.root = root
        self.config = Config()
        self._sockets = sockets
        self._nursery = nursery
        self._report = report
        self._found = found
        self._variables = variables or {}
        self._ahead = ahead or Ahead()
        self._project: CheckedProject | None = None
        self._site: PlannedSite | None = None
        self._result: BundleResult | None = None
        self._toolchain = Path()
        self._files = PageFiles(root)
        self._build = BuildFiles(root, self._ahead)
        self._code = PendingCode(root)
        self._vite = ViteSupervisor(root, nursery, self._ahead, report, self._begin_vite)
        self._checks = BackgroundChecks(
            root, nursery, report, found, look=self._look, show=self._show
        )
        self._described = DescribedLater()

        self._notified: dict[str, CheckedPage] = {}
        """The pages as Node has been notified of them last, by source."""

        self._deleted: set[str] = set()
        """Sources of pages that have been deleted."""

        self._missed: set[str] = set()
        """Changed files that Node does not know of: everything restarts."""

    @property
    def folder(self) -> Path:
        """The development build."""
        return self._build.folder

    async def prepare(self) -> None:
        """Compile the whole project. Raises FxtrioError for what keeps all of it from working."""
        self._variables = await trio.to_thread.run_sync(renew_env_files, self.root, self._variables)
        self.config = await trio.to_thread.run_sync(load_config, self.root)
        self._checks.stop()
        self._toolchain = await ensure_toolchain(self._report)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._start_vite)
            project = await self._files.read_all(self.config, self._by_source())
            await trio.to_thread.run_sync(self._write_all, project)
        before = self._by_source()
        is_first = not self._notified
        if is_first:  # it reads the files
            self._notified = {page.module.source: page for page in project.pages}
        await self._take(project, replan=True)
        # What serves next may have imported what was there before.
        others = other_servers(self._by_source(), before, markdown=True) if before else ()
        self._code.begin(Swap(sources=tuple(others)) if self._ahead.has_begun else Swap())
        if not is_first:
            await self._catch_up()
        # Those of Python were of the process before.
        self._vite.problems.put({"pages": self._files.overlay_problems(), "python": []})
        await self._vite.send_problems()
        for problem in self._files.news():
            self._found(problem)
        self._nursery.start_soon(self._start_checks)
        self._described.look_later(self.root, self.config, self._nursery, self._report)

    async def _start_checks(self) -> None:
        """Check the project after the first page, which needs all cores."""
        assert self._project is not None and self._build.manifest is not None
        by_likelihood = sorted(self._build.manifest.routes, key=lambda route: route.pattern != "/")
        pages = [route.view for route in by_likelihood[:_WARM]]
        await self._attempt(self._ask("warm", pages=pages))
        self._checks.begin(self._project, self.config, self._toolchain)

    async def apply(self, changes: Changes, swap: SwapCode, restart: str = "") -> Applied:
        """Act on changes of files. Raises FxtrioError when the project cannot be served at all.

        ``restart`` says why a new process is needed in any case.
        """
        applied = await self._apply(changes, swap, restart)
        if applied.restart:  # Node gets them when nothing of before is served any more
            self.miss(changes)
        return applied

    async def _apply(self, changes: Changes, swap: SwapCode, restart: str) -> Applied:
        assert self._project is not None
        look = partial(self._look_at, changes.files, pages=has_inotify() and not restart)
        is_few = len(changes.files) <= _FEW
        found, good = look() if is_few else await trio.to_thread.run_sync(look)
        if BUILT in found.settings:  # no process can start before it is made again
            return Applied(restart=f"{BUILT} has changed")
        if found.settings and not restart:
            restart = f"{found.settings[0]} has changed"
        elif found.packages and await self._vite.has_other_packages():
            restart = f"{found.packages[0]} has changed"
        elif found.migrations and self.config.database.url:
            restart = f"{found.migrations[0]} is to be run"
        if not restart:
            return await self._take_over(found, good, swap)
        if found.structure and await self._has_other_folder():
            return Applied(restart=restart)
        return await self._restart(found, swap, restart)

    def _look_at(
        self, files: Iterable[str], *, pages: bool
    ) -> tuple[Sorted, dict[str, CheckedPage] | None]:
        """Sort files; where only ``pages`` and modules have changed, also read the pages.

        Their halves are written, or else Node is told the text of the UI half, and the screen
        does not wait for the disk. None stands for pages that were not read.
        """
        assert self._project is not None
        found = sort_changes(self.root, self.config, self._project, files)
        if found.modules:  # which may have what others lack
            found = found.with_others(self._files.broken)
        if not pages or found.settings or found.packages or found.migrations or found.structure:
            return found, None
        good = self._files.read_now(found.pages)
        known = self._by_source()
        if len(good) <= _FEW:
            python = other_servers(good, known, markdown=True)
            self._build.postpone({one: page for one, page in good.items() if one not in python})
        self._build.write_changed(good, known)
        return found, good

    async def _has_other_folder(self) -> bool:
        """Return whether the settings name another folder of pages than before."""
        try:
            config = await trio.to_thread.run_sync(load_config, self.root)
        except FxtrioError:  # a restart will be prevented
            return False
        return config.pages_dir != self.config.pages_dir

    async def _restart(self, found: Sorted, swap: SwapCode, restart: str) -> Applied:
        """Restart everything; if that is prevented, apply what needs no restart."""
        rest = attrs.evolve(found, settings=(), packages=(), migrations=())
        return attrs.evolve(await self._take_over(rest, None, swap, restart), used=True)

    async def _swap(self, swap: SwapCode, order: Swap) -> Swapped:
        """Pass ``order`` on. A restart is prevented by `.env` files that cannot be read."""
        if order.restart:
            renew = partial(renew_env_files, self.root, self._variables)
            try:
                self._variables = await trio.to_thread.run_sync(renew)
            except FxtrioError as error:
                return Swapped(failed=str(error), error=str(error))
        return await swap(order)

    async def _take_over(
        self,
        found: Sorted,
        good: dict[str, CheckedPage] | None,
        swap: SwapCode,
        restart: str = "",
    ) -> Applied:
        """Act on changes of pages, modules and other files; ``good`` are pages that were read."""
        if found.structure:
            return await self._restructure(found, swap, restart)
        known = self._by_source()
        if good is None:
            good = await self._files.read(found.pages)
            await trio.to_thread.run_sync(self._build.write_changed, good, known)
        replan = any(good[one].module.standalone != known[one].module.standalone for one in good)
        changes = changes_since(known, good)
        return await self._pass_on(found, changes, swap, replan=replan, restart=restart)

    def miss(self, changes: Changes) -> None:
        """Remember changes that come while nothing can be served."""
        self._missed.update(changes.files)

    async def _catch_up(self) -> None:
        """Send Node, which may have continued, the changes that it has not been notified of."""
        assert self._project is not None
        changes = changes_since(self._notified, self._by_source(), structure=True)
        missed = self._missed.difference(changes.deleted)
        found = sort_changes(self.root, self.config, self._project, missed)
        await self._notify_node(found, changes)
        self._missed.clear()

    async def _restructure(self, found: Sorted, swap: SwapCode, restart: str) -> Applied:
        """Act on files that came or went."""
        before, site = self._by_source(), self._site

        def renew() -> tuple[CheckedProject, PageChanges]:
            changed_files = {*found.structure, *found.pages}
            project = self._files.read_all_now(self.config, before, changed_files)
            now = {page.module.source: page for page in project.pages}
            changes = changes_since(before, now, structure=True)
            self._build.write(changes.changed.values(), changes.deleted)
            self._files.forget(changes.deleted)
            return project, changes

        project, changes = await trio.to_thread.run_sync(renew)
        await self._take(project, replan=True)
        came = changes.changed.keys() - before.keys()
        affected = (
            pages_beside(project, site, self._site, came) if came >= {*found.structure} else None
        )
        changes = attrs.evolve(changes, affected=affected)
        return await self._pass_on(found, changes, swap, restart=restart)

    async def _pass_on(
        self,
        found: Sorted,
        changes: PageChanges,
        swap: SwapCode,
        *,
        replan: bool = False,
        restart: str = "",
    ) -> Applied:
        """Hand pages and modules that have changed to whoever runs them.

        ``restart`` is why a restart is due.
        """
        assert self._project is not None
        changed, structure = changes.changed, changes.structure
        wrong = {"pages": self._files.overlay_problems()}
        facts = other_servers(changed, changes.before, markdown=self.config.llms.enabled)
        # Nothing else depends on a UI half: browsers get it first.
        runs = bool(facts or found.modules or structure or self._code or restart)
        ui_alone = not (runs or replan)
        update = UpdateResult()
        if not structure and changed:
            pages = tuple(changed.get(page.module.source, page) for page in self._project.pages)
            if ui_alone:
                update = await self._notify_node(found, changes, wrong=wrong)
            await self._take(attrs.evolve(self._project, pages=pages), replan=replan)
        swapped = Swapped()
        if runs:
            self._described.look_later(self.root, self.config, self._nursery, self._report)
            swapped, wrong["python"] = await self._code.swap(
                partial(self._swap, swap),
                facts,
                found.modules,
                restart=restart,
                at_once=self._is_data_alone(found, changes),
            )
            if swapped.restart:
                self._vite.problems.put({"python": wrong["python"]})
                await self._vite.send_problems(["python"])
                return Applied(restart=swapped.restart)
        if not (ui_alone and changed):
            data = None if swapped.failed else _new_data(found, changes, facts, swapped)
            update = await self._notify_node(found, changes, data=data, wrong=wrong)
        self._checks.note(changed, update.outlines)
        self._checks.check_later(
            self._project,
            self.config,
            self._toolchain,
            found,
            update.outlines,
            pages_changed=bool(changed or changes.deleted),
        )
        paths = map(PurePosixPath, found.files)
        beside = any(path.is_relative_to(self.config.pages_dir) for path in paths)
        used = update.used or bool(changed or found.modules or found.pages or structure) or beside
        failed = [problem["trace"] for problem in wrong.get("python", ())]
        problems = (*self._wrong_files(update), *failed)
        return Applied(problems=problems, modules=swapped.modules, used=used)

    def _wrong_files(self, update: UpdateResult) -> Iterator[str]:
        yield from map(str, self._files.wrong())
        for one in update.wrong:
            path = display_path(Path(one["file"]))
            yield f"{path}:{one['line']}:{one['column']}: {one['message']}"

    def _is_data_alone(self, found: Sorted, changes: PageChanges) -> bool:
        """Return whether browsers show nothing else of what has changed than new data."""
        known, changed = changes.before, changes.changed
        others = {one for one, page in changed.items() if one in known and page.ui != known[one].ui}
        # What a page was that is there again may be in browsers still.
        others |= changed.keys() & self._deleted
        return not (others or found.files or found.public)

    async def _notify_node(
        self,
        found: Sorted,
        changes: PageChanges,
        *,
        data: Any = None,
        wrong: Mapping[str, list[OverlayProblem]] = _NONE_WRONG,
    ) -> UpdateResult:
        """Send Node what has changed, and through it the browsers.

        ``data`` is what browsers load again, as in `_new_data`. Of what is ``wrong``, by who has
        found it, Node gets what it lacks.
        """
        changed, known, deleted = changes.changed, changes.before, changes.deleted
        self._deleted.update(deleted)
        self._vite.problems.put(wrong)
        texts = {one: page.ui for one, page in self._build.postponed.items()}
        try:
            with self._vite.problems.delivering(wrong) as lacking:
                order = change_order(
                    self.root, found, changed, known, deleted, data, lacking, texts
                )
                answer = None if order is None else await self._ask("change", **order)
        finally:
            self._build.write_postponed()  # whoever is notified later reads them
        self._notified |= changed
        for source in deleted:
            self._notified.pop(source, None)
        if answer is None:
            return UpdateResult()
        return UpdateResult(answer["problems"], answer["used"], answer["outlines"])

    async def _take(self, project: CheckedProject, *, replan: bool) -> None:
        """Use ``project`` from now on. With ``replan``, Node gets its views, too."""
        self._project = project
        if not replan and self._build.has_manifest_of(project, self._result):
            return
        before, self._site = self._site, planned_site(project, self._site)
        site = self._site
        if replan or self._result is None:
            # Node may have another one than before, even if it does not answer.
            known, self._result = self._result, None
            self._result = await self._send_site(project, site, before, known)
        self._build.write_manifest(project, site, self.config, self._result)

    async def _send_site(
        self,
        project: CheckedProject,
        site: PlannedSite,
        before: PlannedSite | None,
        known: BundleResult | None,
    ) -> BundleResult:
        """Send Node the views of the app, or those that have come to ``before``.

        ``known`` is what it has answered to that one; None if it may have none.
        """
        more = None if known is None else added_views(project, site, before)
        if known is not None and more is not None:
            answer = await self._ask("site", more=more)
            if answer["known"]:  # else it was started anew meanwhile
                return joined_result(known, answer)
        plan = self._plan(project, site)
        return store_answer(self.folder, plan, await self._ask("site", plan=plan))

    def _plan(self, project: CheckedProject, site: PlannedSite) -> Any:
        plan = bundle_plan(self.root, self.folder, project, site, self.config, "development")
        return encode_plan(plan, self._toolchain)

    def _write_all(self, project: CheckedProject) -> None:
        """Write the halves of all pages, and delete those of others."""
        self._build.write_all(project)
        self._files.keep()
        if self._project is None:
            self._begin_ahead(project)

    def _begin_ahead(self, project: CheckedProject) -> None:
        """Let the process that serves import the app, if it is known what Node will answer."""
        site = planned_site(project)
        answer = find_answer(self.folder, self._plan(project, site))
        if answer is not None:
            self._build.write_manifest(project, site, self.config, answer)
            self._ahead.begin_server()

    def _by_source(self) -> dict[str, CheckedPage]:
        pages = self._project.pages if self._project is not None else ()
        return {page.module.source: page for page in pages}

    async def _show(self, key: str, problems: list[OverlayProblem]) -> None:
        self._vite.problems.put({key: problems})
        await self._attempt(self._vite.send_problems([key]))

    async def _look(self, order: dict[str, Any]) -> dict[str, Any]:
        found: dict[str, Any] = await self._ask("look", **order)
        return found

    async def _start_vite(self) -> None:
        """Make Node run with the settings of the project."""
        settings = ViteSettings.of(
            self.root, self.config, toolchain=self._toolchain, sockets=self._sockets
        )
        if await self._vite.start(settings):
            self._result = None

    async def _begin_vite(self) -> None:
        """Start Node, and send it the views of the app."""
        await self._start_vite()
        if self._project is not None:
            site = self._site or planned_site(self._project)
            plan = self._plan(self._project, site)
            self._result = read_result(await self._vite.ask_now("site", {"plan": plan}))

    async def _ask(self, op: str, **fields: Any) -> Any:
        return await self._vite.ask(op, fields)

    async def _attempt(self, order: Awaitable[Any]) -> None:
        """Wait for an order for which nothing else waits."""
        try:
            await order
        except OrderVoid:
            pass  # `prepare` requests everything again
        except FxtrioError as error:
            self._report(str(error))


def _new_data(
    found: Sorted, changes: PageChanges, facts: Iterable[str], swapped: Swapped
) -> dict[str, Any] | None:
    """Return the pages whose data is to be loaded again, by ``sources``, which is None for all.

    None where there is none of these.
    """
    # Loaders read Markdown (`fx.content`), and which of them is not known.
    if changes.affected is None or any(file.endswith(MARKDOWN_SUFFIX) for file in found.files):
        return {"sources": None}
    sources = (*swapped.sources, *facts, *changes.affected)
    return {"sources": sources} if sources else None
