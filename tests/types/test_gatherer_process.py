"""The process that `fx dev` keeps says what one says that imports a project for the first time."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import psutil
import pytest
import trio

from fxtrio.compile.project import CheckedProject, check_project
from fxtrio.config import Config
from fxtrio.tools.project_process.fork_server import CAN_FORK, MODULE
from fxtrio.tools.types.gather.gatherer_process import GathererProcess, TypesUnknown, project_types
from tests.trees import write_tree

PAGE = (
    "from store import KEY\n\n\n"
    "@server\nasync def load(request):\n    return {'key': KEY, 'own': %s}\n"
    "\n\nexport default function Page({ data }) {\n  return <p>{data.own}</p>;\n}\n"
)


def written(root: Path, own: str = "1", store: str = "KEY = 'a'") -> CheckedProject:
    files = {"pages/index.fxl": PAGE % own, "store.py": f"{store}\n"}
    write_tree(root, files)
    return check_project(root, Config())


@asynccontextmanager
async def keeping(root: Path) -> AsyncIterator[GathererProcess]:
    with trio.fail_after(120):
        async with trio.open_nursery() as nursery:
            yield GathererProcess(root, nursery)
            nursery.cancel_scope.cancel()


def own_processes(root: Path) -> list[psutil.Process]:
    """Return those for ``root``: the `fx dev` that other tests share keeps one as well."""
    found = []
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.NoSuchProcess, psutil.ZombieProcess):
            if MODULE in process.cmdline() and root.samefile(process.cwd()):
                found.append(process)
    return found


async def wait_ended(processes: list[psutil.Process]) -> None:
    with trio.fail_after(30):
        while any(one.is_running() and one.status() != psutil.STATUS_ZOMBIE for one in processes):
            await trio.to_thread.run_sync(psutil.wait_procs, processes, 0.1)


async def test_each_question_imports_the_project_again(tmp_path: Path) -> None:
    async with keeping(tmp_path) as gatherer:
        seen = set()
        for own, store in (("1", "KEY = 'a'"), ("'x'", "KEY = 'a'"), ("'x'", "KEY = 5")):
            project = written(tmp_path, own, store)
            found = await gatherer.types(project)
            assert found == await project_types(tmp_path, project)
            seen.add(repr(found.pages[0].data))
        assert len(seen) == 3
        assert len(own_processes(tmp_path)) == int(CAN_FORK)
        gatherer.stop()
        await wait_ended(own_processes(tmp_path))
        assert await gatherer.types(project) == found


LAYOUT = (
    "@server\nasync def load(request):\n    return {'menu': %s}\n"
    "\n\nexport default ({ children }) => <main>{children}</main>;\n"
)


async def test_newer_types_are_those_of_a_whole_import_and_what_stays_is_the_same_object(
    tmp_path: Path,
) -> None:
    def changed(own: str, menu: str = "1") -> CheckedProject:
        layout = {"pages/layout.fxl": LAYOUT % menu, "pages/other.fxl": PAGE % "2"}
        write_tree(tmp_path, layout)
        return written(tmp_path, own)

    async with keeping(tmp_path) as gatherer:
        project = changed("1")
        types = await gatherer.types(project)
        for own, menu in (("'x'", "1"), ("[1.5]", "1"), ("[1.5]", "'home'"), ("KEY", "'home'")):
            before, known = project, types
            project = changed(own, menu)
            types = await gatherer.newer_types(project, before, known)
            assert types == await project_types(tmp_path, project)
            if menu == "1":  # a layout is part of the types of all pages below it
                assert types.by_source()["pages/other.fxl"] is known.by_source()["pages/other.fxl"]
        other_words = changed("KEY + 'a'", "'home'")
        assert await gatherer.newer_types(other_words, project, types) is types
        write_tree(tmp_path, {"pages/new.fxl": PAGE % "3"})
        more = check_project(tmp_path, Config())
        newest = await gatherer.newer_types(more, project, types)
        assert newest == await project_types(tmp_path, more)


async def test_a_project_that_ends_its_process_is_reported_and_the_next_is_read(
    tmp_path: Path,
) -> None:
    ends = "import os, sys\nprint('on its way', flush=True)\nos._exit(3)\nKEY = 'a'"
    async with keeping(tmp_path) as gatherer:
        with pytest.raises(TypesUnknown, match=r"ended with 3(?s:.*)on its way"):
            await gatherer.types(written(tmp_path, store=ends))
        project = written(tmp_path)
        assert await gatherer.types(project) == await project_types(tmp_path, project)


async def test_nothing_runs_on_for_a_question_that_is_abandoned(tmp_path: Path) -> None:
    endless = "from pathlib import Path\nPath('begun').touch()\nwhile True:\n    pass\nKEY = 'a'"
    async with keeping(tmp_path) as gatherer:
        with trio.CancelScope() as scope:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(gatherer.types, written(tmp_path, store=endless))
                while not (tmp_path / "begun").exists():
                    await trio.lowlevel.checkpoint()
                processes = own_processes(tmp_path)
                assert processes
                scope.cancel()
        await wait_ended(processes)
        project = written(tmp_path)
        assert await gatherer.types(project) == await project_types(tmp_path, project)


async def test_a_question_that_takes_too_long_is_reported(tmp_path: Path) -> None:
    if CAN_FORK:
        endless = "while True:\n    pass\nKEY = 'a'"
        async with keeping(tmp_path) as gatherer:
            gatherer.limit = 2.0
            with pytest.raises(TypesUnknown, match="took longer than"):
                await gatherer.types(written(tmp_path, store=endless))
            await wait_ended(own_processes(tmp_path))


async def test_a_process_that_was_killed_is_replaced(tmp_path: Path) -> None:
    async with keeping(tmp_path) as gatherer:
        project = written(tmp_path)
        found = await gatherer.types(project)
        processes = own_processes(tmp_path)
        for process in processes:
            os.kill(process.pid, 9)
        await wait_ended(processes)
        assert await gatherer.types(project) == found
