"""The loop of `fx dev` with real child processes; projects are plain ASGI apps."""

from __future__ import annotations

import os
import re
import signal
import socket
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import attrs
import httpx
import psutil
import pytest
import trio

from fxtrio.cli.dev import run_until_interrupted
from fxtrio.config import Config
from fxtrio.develop.build.applied import Applied, SwapCode
from fxtrio.develop.loop import Loop
from fxtrio.develop.processes.attached_process import attach
from fxtrio.develop.processes.launch import Ahead, Server, launch_server, starting_ahead
from fxtrio.develop.processes.messages import BEGIN, SERVE, Swap
from fxtrio.develop.processes.server_child import Failure
from fxtrio.develop.reload.watcher import Changes, PendingChanges
from fxtrio.errors import FxtrioError
from fxtrio.server.supervise.listening.binding import open_sockets
from fxtrio.server.supervise.options import ServeOptions

APP = """
import os, sys

async def app(scope, receive, send):
    if scope["type"] == "lifespan":
        while True:
            kind = (await receive())["type"].removeprefix("lifespan.")
            await send({"type": f"lifespan.{kind}.complete"})
            if kind == "shutdown":
                return
    if scope["path"] == "/die":
        print("dying for a reason", file=sys.stderr)
        os._exit(3)
    headers = [(b"content-type", b"text/html; charset=utf-8")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": b"VERSION " + str(os.getpid()).encode()})
"""


UPGRADE = (
    b"GET /_fx/@hot HTTP/1.1\r\nHost: localhost\r\nOrigin: http://localhost\r\n"
    b"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
)


class BuildBroken(FxtrioError):
    """What a build raises in these tests."""


@attrs.define
class Recorder:
    """Keeps what is reported, and lets a test wait for it."""

    events: list[str] = attrs.field(factory=list)
    _arrived: trio.Event = attrs.field(factory=trio.Event)

    def _add(self, event: str) -> None:
        self.events.append(event)
        self._arrived.set()
        self._arrived = trio.Event()

    def built(self, seconds: float) -> None:
        self._add("built")

    def started(self, seconds: float) -> None:
        self._add("started")

    def changed(self, files: tuple[str, ...]) -> None:
        self._add(f"changed {' '.join(files)}")

    def applied(self, applied: Applied, seconds: float) -> None:
        self._add(" ".join(filter(None, ("applied", applied.restart, *applied.problems[:1]))))

    def failed(self, failure: Failure) -> None:
        self._add(f"failed {failure.title}: {failure.details}")

    def line(self, text: str) -> None:
        self._add(f"line {text}")

    async def wait_for(self, event: str, count: int = 1) -> None:
        while self.events.count(event) < count:
            await self._arrived.wait()


@attrs.define
class Project:
    """A project that `fx dev` runs."""

    root: Path
    listener: socket.socket
    report: Recorder
    pending: PendingChanges | None = None
    build_error: str = ""
    apply_error: str = ""
    renews: bool = False
    missed: list[tuple[str, ...]] = attrs.field(factory=list)
    seen_at_preparing: list[int] = attrs.field(factory=list)
    """How many processes there were, besides those of the tests, each time."""

    ahead: Ahead = attrs.field(factory=Ahead)
    at_preparing: Callable[[], object] = lambda: None
    """What happens while nothing is served."""

    app: str = "app:app"
    """What `Loop.find_app` returns."""

    def write(self, text: str) -> None:
        (self.root / "app.py").write_text(text)

    def change(self, *files: str) -> None:
        assert self.pending is not None
        self.pending.add(Changes(files))

    async def prepare(self) -> None:
        self.seen_at_preparing.append(len(psutil.Process().children()))
        self.at_preparing()
        if self.build_error:
            raise BuildBroken(self.build_error)

    def miss(self, changes: Changes) -> None:
        self.missed.append(changes.files)

    async def apply(self, changes: Changes, swap: SwapCode, restart: str = "") -> Applied:
        if self.renews:
            return Applied(restart="packages have changed")
        if self.apply_error:
            raise BuildBroken(self.apply_error)
        if restart:
            swapped = await swap(Swap(restart=restart))
            return Applied(restart=swapped.restart, problems=tuple(filter(None, [swapped.error])))
        if not any(file.endswith(".py") for file in changes.files):
            used = any(file.endswith(".css") for file in changes.files)
            if not used:
                self.report._add("unused")
            return Applied(used=used)
        swapped = await swap(Swap(files=tuple(str(self.root / file) for file in changes.files)))
        problems = (swapped.error, swapped.failed) if swapped.failed else ()
        return Applied(restart=swapped.restart, problems=problems)

    async def watch(self, root: Path, pending: PendingChanges) -> None:
        self.pending = pending
        await trio.sleep_forever()

    @property
    def loop(self) -> Loop:
        return Loop(
            server=self.server,
            project=self,
            report=self.report,
            watch=self.watch,
            ahead=self.ahead,
            find_app=lambda: self.app,
        )

    @property
    def server(self) -> Server:
        return Server(
            root=self.root, app="app:app", host="localhost", vite=self.root, socket=self.listener
        )

    async def get(self, path: str = "/") -> httpx.Response:
        port = self.listener.getsockname()[1]
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=20) as client:
            return await client.get(path)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Project]:
    monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)  # as on most machines
    with open_sockets(ServeOptions(app="", bind=("127.0.0.1:0",))) as (listener,):
        opened = Project(tmp_path, listener, Recorder())
        opened.write(APP.replace("VERSION", "one"))
        yield opened


@asynccontextmanager
async def running(project: Project) -> AsyncIterator[None]:
    with trio.fail_after(60):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(project.loop.run)
            yield
            nursery.cancel_scope.cancel()


async def is_there(path: Path) -> None:
    with trio.fail_after(30):
        while not await trio.Path(path).exists():  # noqa: ASYNC110 - another process makes it
            await trio.sleep(0.01)


def child_pid(response: httpx.Response) -> int:
    found = re.search(r"\w+ (\d+)", response.text)
    assert found is not None
    return int(found[1])


async def test_a_change_restarts_the_app_and_nobody_is_rejected_meanwhile(project: Project) -> None:
    async with running(project):
        first = await project.get()
        project.write(APP.replace("VERSION", "two"))
        project.change("app.py")
        await project.report.wait_for("changed app.py")
        second = await project.get()
        while "two" not in second.text:  # the old one answers until it has been told to end
            second = await project.get()

    assert first.text.startswith("one ")
    assert project.report.events[:2] == ["built", "started"]
    assert not psutil.pid_exists(child_pid(first))
    assert not psutil.pid_exists(child_pid(second))


async def test_documents_get_the_module_that_takes_updates(project: Project) -> None:
    async with running(project):
        page = await project.get()

    assert page.text.endswith(
        '<script type="module" src="/_fx/@id/__x00__virtual:fx/client"></script>'
    )


async def test_the_browser_displays_a_failed_build_until_it_is_corrected(
    project: Project,
) -> None:
    project.build_error = "pages/index.fxl:3:5: <oops>"
    async with running(project):
        broken = await project.get("/any/page")
        project.build_error = ""
        project.change("pages/index.fxl")
        await project.report.wait_for("started")
        mended = await project.get()

    assert broken.status_code == 500
    assert "pages/index.fxl:3:5: &lt;oops&gt;" in broken.text
    assert '<script data-hot="/_fx/@hot" data-failure="' in broken.text
    assert mended.text.startswith("one ")
    assert "failed The build has failed: pages/index.fxl:3:5: <oops>" in project.report.events


async def test_what_the_app_has_just_said_is_not_said_again_by_the_build(project: Project) -> None:
    message = "fx.config.json:1:2: lang must be text, not 5."
    project.write(f"import sys\nprint({message!r}, file=sys.stderr)\n{APP}")
    async with running(project):
        await project.report.wait_for("started")
        await project.report.wait_for(f"line {message}")
        project.build_error = message
        project.change("app.py", "fx.config.json")
        await project.report.wait_for("failed The build has failed: ")
        while (await project.get()).status_code == 200:  # of the app that is being ended
            pass
        broken = await project.get()

    assert message in broken.text


@pytest.mark.parametrize(
    ("error", "message"),
    [
        ("RuntimeError('no such table')", "RuntimeError: no such table"),
        ("FxtrioError('app.py: no such table. Add it.')", "app.py: no such table. Add it."),
    ],
)
async def test_an_app_that_does_not_start_shows_why(
    project: Project, error: str, message: str
) -> None:
    project.write(f"from fxtrio.errors import FxtrioError\n\nraise {error}\n")
    async with running(project):
        await project.report.wait_for("failed The app has stopped: ")
        broken = await project.get()
        project.write(APP)
        project.change("app.py")
        await project.report.wait_for("started")
        mended = await project.get()

    assert broken.status_code == 500
    assert message in broken.text
    assert "supervise" not in broken.text  # the traceback begins in the project
    assert f"line {message}" in project.report.events
    assert mended.status_code == 200
    assert project.report.events.count("started") == 1  # not of the app that never serves


async def test_the_browser_has_the_last_lines_of_an_app_that_dies_later(project: Project) -> None:
    async with running(project):
        await project.report.wait_for("started")
        with pytest.raises(httpx.HTTPError):
            await project.get("/die")
        await project.report.wait_for("failed The app has stopped: ")
        broken = await project.get()

    assert "dying for a reason" in broken.text


async def test_what_the_project_takes_over_by_itself_restarts_nothing(project: Project) -> None:
    async with running(project):
        await project.report.wait_for("started")
        before = await project.get()
        project.change("notes.txt")  # which nothing is made of
        await project.report.wait_for("unused")
        project.change("pages/style.css")
        await project.report.wait_for("applied")
        after = await project.get()

    assert child_pid(before) == child_pid(after)
    assert project.report.events.count("started") == 1
    assert "changed notes.txt" not in project.report.events


async def test_an_app_that_fxtrio_did_not_create_is_restarted_for_new_python(
    project: Project,
) -> None:
    async with running(project):
        await project.report.wait_for("started")
        project.change("app.py")
        await project.report.wait_for("started", count=2)

    assert "applied the app was not created by fxtrio" in project.report.events


async def test_an_app_serves_on_while_a_new_process_could_not_import_it(project: Project) -> None:
    broken = {
        "app = aplication": "NameError: name 'aplication' is not defined",
        "import os\nos._exit(7)": "The app cannot be imported: exit code 7",
        "": "app:app: module 'app' has no attribute 'app'. Name an ASGI application",
    }
    async with running(project):
        await project.report.wait_for("started")
        first = await project.get()
        for text, error in broken.items():
            project.write(text)
            project.change("app.py")
            while not project.report.events[-1].startswith(f"applied {error}"):
                await project.report._arrived.wait()
            assert child_pid(first) == child_pid(await project.get())
        project.write(APP.replace("VERSION", "three"))
        project.change("app.py")
        await project.report.wait_for("started", count=2)
        third = await project.get()

    assert third.text.startswith("three ")


async def test_a_break_that_is_saved_during_a_restart_leaves_the_app_as_it_was_before(
    project: Project,
) -> None:
    async with running(project):
        await project.report.wait_for("started")

        def save_broken() -> None:
            project.write("app = aplication")
            project.change("app.py")

        project.write(f"print('said at the import')\n{APP.replace('VERSION', 'two')}")
        project.at_preparing = save_broken
        project.change("app.py")
        await project.report.wait_for("started", count=2)
        second = await project.get()
        while not project.report.events[-1].startswith("applied NameError: name 'aplication'"):
            await project.report._arrived.wait()
        third = await project.get()
        project.at_preparing = lambda: None
        project.write(APP.replace("VERSION", "three"))
        project.change("app.py")
        await project.report.wait_for("started", count=3)
        last = await project.get()

    assert second.text.startswith("two ")
    assert child_pid(second) == child_pid(third)
    assert last.text.startswith("three ")


async def test_an_app_serves_on_while_another_one_that_comes_cannot_be_imported(
    project: Project,
) -> None:
    async with running(project):
        await project.report.wait_for("started")
        first = await project.get()
        (project.root / "other.py").write_text("app = aplication")
        project.app = "other:app"
        project.change("other.py")
        await project.report.wait_for("applied NameError: name 'aplication' is not defined")
        project.change("pages/style.css")  # as before, without another attempt
        await project.report.wait_for("applied")
        second = await project.get()
        (project.root / "other.py").write_text(APP.replace("VERSION", "other"))
        project.change("other.py")
        await project.report.wait_for("started", count=2)
        third = await project.get()

    assert child_pid(first) == child_pid(second)
    assert third.text.startswith("other ")


async def test_what_serves_has_ended_when_packages_are_prepared(project: Project) -> None:
    before = len(psutil.Process().children())
    project.renews = True
    async with running(project):
        first = await project.get()
        project.change("package.json")
        await project.report.wait_for("started", count=2)
        second = await project.get()

    assert project.seen_at_preparing == [before, before]
    assert child_pid(first) != child_pid(second)
    assert "applied packages have changed" in project.report.events


async def test_open_pages_get_an_error_and_its_end(project: Project) -> None:
    port = project.listener.getsockname()[1]
    project.build_error = "pages/index.fxl:3:5: oops"
    async with running(project):
        await project.report.wait_for("failed The build has failed: pages/index.fxl:3:5: oops")
        async with await trio.open_tcp_stream("127.0.0.1", port) as browser:
            await browser.send_all(UPGRADE)
            received = b""
            while b"oops" not in received:
                received += await browser.receive_some()
            project.build_error = ""
            project.change("pages/index.fxl")
            while more := await browser.receive_some():
                received += more

    assert b'"event": "fx:problems"' in received
    assert b'"failure": "' in received  # by which the page about it knows whose connection it has
    assert received.endswith((1001).to_bytes(2, "big"))  # the code of the closing frame


async def test_an_interrupt_ends_the_loop_and_leaves_no_process(project: Project) -> None:
    others = set(psutil.Process().children())  # of fixtures
    started: list[psutil.Process] = []

    async def interrupt() -> None:
        await project.report.wait_for("started")
        for child in set(psutil.Process().children()) - others:
            started.extend([child, *child.children(recursive=True)])
        os.kill(os.getpid(), signal.SIGINT)

    with trio.fail_after(30):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(interrupt)
            await run_until_interrupted(project.loop)

    assert started
    assert psutil.wait_procs(started, timeout=30)[1] == []


@pytest.mark.parametrize("begun", [True, False], ids=["serving", "waiting to serve"])
async def test_the_child_ends_when_its_parent_has_ended(project: Project, begun: bool) -> None:
    with trio.fail_after(30):
        launched = launch_server(project.server)
        child = attach(launched.process)
        async with trio.lowlevel.FdStream(launched.replies) as ready:
            if begun:
                await child.stdin.send_all(BEGIN + SERVE)
                assert await ready.receive_some(3) == b"{}\n"
            await child.stdin.aclose()  # what the end of the parent does, however it ends

            await child.wait()
        await child.close()

    assert child.returncode == 0


async def test_a_process_that_was_started_ahead_runs_nothing_before_the_project_is_prepared(
    project: Project,
) -> None:
    project.write(f"open('ran', 'w').close()\n{APP.replace('VERSION', 'ahead')}")
    project.build_error = "not yet"
    others = psutil.Process().children()  # of fixtures
    with starting_ahead(project.server, Config()) as project.ahead:
        started = [one for one in psutil.Process().children() if one not in others]
        async with running(project):
            assert (await project.get()).status_code == 500
            assert not (project.root / "ran").exists()
            project.build_error = ""
            project.change("pages/index.fxl")
            await project.report.wait_for("started")
            served = await project.get()

    assert served.text.startswith("ahead ")
    assert child_pid(served) in {process.pid for process in started}
    assert psutil.wait_procs(started, timeout=30)[1] == []


async def test_a_process_that_was_started_ahead_with_other_variables_is_not_used(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.write(APP.replace('b"VERSION "', 'os.environ["COLOUR"].encode() + b" "'))
    monkeypatch.setenv("COLOUR", "red")
    with starting_ahead(project.server, Config()) as project.ahead:
        monkeypatch.setenv("COLOUR", "blue")
        async with running(project):
            served = await project.get()

    assert served.text.startswith("blue ")


async def test_a_process_that_was_started_ahead_may_import_the_app_before_it_serves(
    project: Project,
) -> None:
    project.write(f"open('imported', 'w').close()\n{APP.replace('VERSION', 'ahead')}")
    with starting_ahead(project.server, Config()) as project.ahead:
        project.ahead.begin_server()
        await is_there(project.root / "imported")
        async with running(project):
            served = await project.get()

    assert served.text.startswith("ahead ")


async def test_a_process_that_has_begun_with_another_build_does_not_serve(project: Project) -> None:
    project.write(f"open('imported', 'w').close()\n{APP.replace('VERSION', 'old')}")
    with starting_ahead(project.server, Config()) as project.ahead:
        project.ahead.begin_server()
        await is_there(project.root / "imported")
        project.write(APP.replace("VERSION", "new"))
        project.ahead.end_begun()
        async with running(project):
            served = await project.get()

    assert served.text.startswith("new ")


async def test_changes_that_cannot_be_applied_are_not_forgotten(project: Project) -> None:
    async with running(project):
        await project.report.wait_for("started")
        project.apply_error = "two pages of one URL"
        project.change("pages/look.css", "pages/a/index.fxl")
        await project.report.wait_for("failed The build has failed: two pages of one URL")
    assert project.missed == [("pages/look.css", "pages/a/index.fxl")]
