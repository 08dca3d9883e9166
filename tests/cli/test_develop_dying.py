"""What is saved while the app is dying: the next process runs it."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import attrs
import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from fxtrio.develop.build.applied import Applied, SwapCode
from fxtrio.develop.loop import Loop
from fxtrio.develop.processes.launch import Server
from fxtrio.develop.processes.messages import Swap
from fxtrio.develop.processes.server_child import Failure, Served
from fxtrio.develop.reload.watcher import Changes, PendingChanges

STOPPED = Failure("The app has stopped", "exit code 3")
CORRECTION = Changes(("mod.py", "pages/index.fxl"))


@attrs.define
class Project:
    """A project whose app ends before what is saved, while it is taken over, or after that."""

    ends: str
    steps: list[str] = attrs.field(factory=list)
    served: list[Served] = attrs.field(factory=list)
    pending: PendingChanges | None = None

    def end_app(self) -> None:
        self.served[0].failure = STOPPED
        self.served[0].ended.set()

    async def watch(self, root: Path, pending: PendingChanges) -> None:
        self.pending = pending
        await trio.sleep_forever()

    async def prepare(self) -> None:
        self.steps.append("prepare")

    def miss(self, changes: Changes) -> None:
        assert changes == CORRECTION
        self.steps.append("miss")

    async def apply(self, changes: Changes, swap: SwapCode, restart: str = "") -> Applied:
        assert changes == CORRECTION
        if self.ends == "while":
            self.end_app()
            return Applied(restart=(await swap(Swap())).restart)
        self.end_app()
        return Applied()

    def built(self, seconds: float) -> None:
        pass

    def started(self, seconds: float) -> None:
        pass

    def changed(self, files: tuple[str, ...]) -> None:
        self.steps.append("changed")

    def applied(self, applied: Applied, seconds: float) -> None:
        self.steps.append(f"applied {applied.restart}")

    def failed(self, failure: Failure) -> None:
        self.steps.append(failure.title)

    def line(self, text: str) -> None:
        pass


@attrs.frozen(kw_only=True)
class Following(Loop):
    """The loop, without processes."""

    opened: Callable[[Failure | None], AbstractAsyncContextManager[Served]]

    def _serve(
        self, server: Server, failure: Failure | None
    ) -> AbstractAsyncContextManager[Served]:
        return self.opened(failure)


EXPECTED = {
    "before": ["prepare", "changed", "miss", "prepare", "serve"],
    "while": ["prepare", "changed", "applied nothing is served", "prepare", "serve"],
    "after": ["prepare", "changed", "The app has stopped", "show the failure"],
}


@pytest.mark.parametrize("ends", EXPECTED)
async def test_what_is_saved_while_the_app_is_dying_is_run_by_the_next_process(
    tmp_path: Path, ends: str
) -> None:
    project = Project(ends)

    @asynccontextmanager
    async def opened(failure: Failure | None) -> AsyncIterator[Served]:
        if project.served:
            project.steps.append("serve" if failure is None else "show the failure")
        project.served.append(Served())
        yield project.served[-1]

    with trio.fail_after(30), socket.socket() as unused:
        loop = Following(
            server=Server(root=tmp_path, app="", host="", vite=tmp_path, socket=unused),
            project=project,
            report=project,
            watch=project.watch,
            opened=opened,
        )
        async with trio.open_nursery() as nursery:
            nursery.start_soon(loop.run)
            await wait_all_tasks_blocked()
            assert project.pending is not None
            project.pending.add(CORRECTION)
            if ends == "before":
                project.end_app()
            await wait_all_tasks_blocked()
            nursery.cancel_scope.cancel()

    assert project.steps == EXPECTED[ends]
