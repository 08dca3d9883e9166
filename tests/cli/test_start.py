"""The start of `fx serve`: what it imports, and the Node processes that start beside it."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path

import attrs
import httpx
import pytest
import trio

from fxtrio.manifest import FILE_NAME, Manifest, dump_manifest
from tests.ssr.pools import PAGES, is_running, read_command, read_status, wait_until

pytestmark = pytest.mark.own_interpreter

BEFORE_NODE = "fxtrio.cli.group", "fxtrio.cli.serve"
"""What `fx serve` imports before it starts Node, which then starts at the same time as …"""

BESIDE_NODE = "fxtrio.server.supervise.start", "fxtrio.cli.default_app"
"""… what it imports to serve."""

LAUNCHING = "fxtrio.develop.processes.launch", "fxtrio.develop.listener"
"""What `fx dev` imports before it starts Node and the process that serves."""

HEAVY = {
    "cattrs",
    "coredis",
    "difflib",
    "h2",
    "html.parser",
    "html_to_markdown",
    "importlib.metadata",
    "importlib.resources",
    "pydantic",
    "pyflakes",
    "rich",
    "watchfiles",
    "websockets",
    "wsproto",
}
"""What takes milliseconds each, and is not needed to serve."""

HEAVY_TO_SERVE = {"asyncio", "hypercorn", "multiprocessing", "starlette", "trio"}
"""What is needed, but not before Node has been started."""

MOST_CLASSES = 17
"""Of attrs, in fxtrio itself: what applications get."""

MOST_PATTERNS = 32
"""Of `re`, compiled by modules of fxtrio: what nearly every request is matched with."""

ENDED = 10.0  # seconds after which a process counts as left over


def imported(*modules: str) -> set[str]:
    """Return the names of all modules that a new interpreter has after importing some."""
    return set(" ".join(printed_after(modules, "import sys; print(*sys.modules)")).split())


def printed_after(modules: Iterable[str], code: str) -> set[str]:
    """Return the lines that code prints in a new interpreter after importing some modules."""
    command = [sys.executable, "-c", f"import {', '.join(modules)}\n{code}"]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    return set(run.stdout.splitlines())


def test_nothing_heavy_is_imported_that_a_server_does_not_need() -> None:
    assert imported(*BEFORE_NODE, *BESIDE_NODE) & HEAVY == set()


def test_jobs_and_migrations_are_imported_for_apps_with_a_database_alone() -> None:
    rooms = "fxtrio.jobs", "fxtrio.db.m", "fxtrio.db.database", "fxtrio.db.retrying"
    modules = imported(*BEFORE_NODE, *BESIDE_NODE)
    assert not [name for name in modules if name.startswith(rooms)]


def test_the_task_tree_is_imported_for_apps_that_show_it_alone() -> None:
    modules = imported(*BEFORE_NODE, *BESIDE_NODE)
    assert modules & {"fxtrio.observe.observer", "fxtrio.observe.tree"} == set()


def test_a_server_creates_few_classes_of_attrs_at_its_start() -> None:
    """Each takes half a millisecond: records that only fxtrio reads are of msgspec."""
    code = (
        "import gc\n"
        "for kind in gc.get_objects():\n"
        "    if isinstance(kind, type) and '__attrs_attrs__' in vars(kind):\n"
        "        if kind.__module__.startswith('fxtrio.'):\n"
        "            print(kind.__module__, kind.__qualname__)\n"
    )
    assert 0 < len(printed_after((*BEFORE_NODE, *BESIDE_NODE), code)) <= MOST_CLASSES


def test_a_server_compiles_few_patterns_at_its_start() -> None:
    """Most take a quarter of a millisecond: `re` compiles and caches a string at its first use."""
    code = (
        "import re, sys\n"
        "for name, module in sys.modules.items():\n"
        "    if name.startswith('fxtrio.'):\n"
        "        for key, value in vars(module).items():\n"
        "            if isinstance(value, re.Pattern):\n"
        "                print(name, key)\n"
    )
    assert 0 < len(printed_after((*BEFORE_NODE, *BESIDE_NODE), code)) <= MOST_PATTERNS


def test_what_answers_other_requests_than_those_for_pages_is_imported_for_these() -> None:
    needless = {
        "fxtrio.markdown.page_content",
        "fxtrio.serve.actions.call",
        "fxtrio.serve.actions.no_js_forms",
        "fxtrio.serve.event_streams.forward",
        "fxtrio.serve.request.bodies.body",
        "fxtrio.serve.starlette_routes",
        "fxtrio.serve.streams.endpoint",
        "fxtrio.serve.websockets",
    }
    assert imported(*BEFORE_NODE, *BESIDE_NODE) & needless == set()


def test_node_is_started_before_anything_heavy_is_imported() -> None:
    assert imported(*BEFORE_NODE) & (HEAVY | HEAVY_TO_SERVE) == set()


def test_fx_dev_starts_other_processes_before_anything_heavy_is_imported() -> None:
    before = "fxtrio.cli.group", "fxtrio.cli.dev", *LAUNCHING
    assert imported(*before) & (HEAVY | HEAVY_TO_SERVE) == set()


def test_nothing_heavy_is_imported_that_the_process_of_fx_dev_does_not_need() -> None:
    needless = {"click", "fxtrio.compile.project", "fxtrio.compile.split.halves"}
    assert imported("fxtrio.develop.serving.child") & (HEAVY | needless) == set()


def test_nothing_that_serves_is_imported_by_the_process_that_follows_files() -> None:
    following = "fxtrio.develop.loop", "fxtrio.develop.build.dev_project"
    needless = {"cattrs", "hypercorn", "starlette.applications", "fxtrio.app"}
    assert imported(*following) & needless == set()


def test_nothing_that_serves_is_imported_to_build() -> None:
    building = "fxtrio.cli.build", "fxtrio.compile.build", "fxtrio.tools.types.ui.write_types"
    beside = "fxtrio.cli.import_check.process", "fxtrio.tools.project_checks.project_files"
    needless = {"asyncio", "cattrs", "fxtrio.plugins", "fxtrio.realtime", "hypercorn", "starlette"}
    assert imported(*building, *beside) & needless == set()


def test_nothing_that_serves_is_imported_to_import_a_project_for_its_types() -> None:
    needless = {"fxtrio.app", "fxtrio.realtime", "hypercorn", "starlette.applications", "trio"}
    assert imported("fxtrio.tools.types.gather.gatherer_child") & needless == set()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project that is built and has no pages; its bundle is one for tests."""
    build = tmp_path / ".fx/build"
    (build / "ssr").mkdir(parents=True)
    (build / "client").mkdir()
    (build / FILE_NAME).write_bytes(dump_manifest(Manifest(build_id="x", mode="production")))
    (build / "ssr/server.mjs").write_text(PAGES.read_text())
    return tmp_path


@attrs.define
class Started:
    """A run of `fx serve`. ``said`` is what it has printed to stderr, as far as it was read."""

    process: trio.Process
    output: bytes = b""

    async def until(self, text: bytes) -> bytes:
        """Return what it has printed once a line with ``text`` is in it, or it has ended."""
        assert self.process.stderr is not None
        while text not in self.output or not self.output.endswith(b"\n"):
            if not (data := await self.process.stderr.receive_some()):
                break
            self.output += data
        return self.output


@asynccontextmanager
async def starting(project: Path) -> AsyncIterator[Started]:
    """Run `fx serve` from its start, with what it prints to stderr readable."""
    command = [sys.executable, "-m", "fxtrio", "serve", "--port", "0"]
    env = {**os.environ, "FX_SECRET_KEY": "a key for tests that is long enough"}
    with trio.fail_after(60):
        process = await trio.lowlevel.open_process(
            command, cwd=project, env=env, stderr=subprocess.PIPE
        )
        assert process.stderr is not None
        async with process.stderr:
            try:
                yield Started(process)
            finally:
                process.kill()
                with trio.CancelScope(shield=True):
                    await process.wait()


def nodes(parent: int) -> list[int]:
    """Return the SSR workers of a process."""
    pids = [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]
    return [
        pid
        for pid in pids
        if read_status(pid)[1] == parent and is_running(pid) and b"worker.cjs" in read_command(pid)
    ]


async def ended(pid: int) -> None:
    with trio.fail_after(ENDED):
        await wait_until(lambda: not is_running(pid))


@pytest.mark.node
async def test_a_server_has_nothing_heavy_after_its_first_answer(project: Path) -> None:
    (project / "app.py").write_text(
        "import sys\n"
        "from fxtrio.app import create_app\n"
        "from starlette.responses import PlainTextResponse\n"
        "from starlette.routing import Route\n"
        "app = create_app('.')\n"
        "def modules(request):\n"
        "    return PlainTextResponse(' '.join(sys.modules))\n"
        "app.router.routes.append(Route('/modules', modules))\n"
    )
    async with starting(project) as server:
        output = await server.until(b"Running on")
        found = re.search(r"Running on (http://127.0.0.1:\d+)", output.decode())
        assert found is not None, output
        async with httpx.AsyncClient(base_url=found[1]) as client:
            answer = await client.get("/modules")

    loaded = set(answer.text.split())
    assert "fxtrio.app" in loaded
    assert loaded & (HEAVY | {"fxtrio.server.http2"}) == set()


@pytest.mark.node
async def test_the_processes_that_start_beside_the_app_are_the_ones_it_uses(project: Path) -> None:
    (project / "app.py").write_text(
        "from fxtrio.app import create_app\n"
        "import sys\n"
        "print('importing', file=sys.stderr, flush=True)\n"
        "app = create_app('.')\n"
    )
    async with starting(project) as server:
        await server.until(b"importing")
        early = nodes(server.process.pid)
        assert b"Running on" in await server.until(b"Running on")
        assert len(early) == 1
        assert nodes(server.process.pid) == early
        server.process.send_signal(signal.SIGTERM)
        assert await server.process.wait() == 0
        await ended(early[0])


@pytest.mark.node
async def test_an_app_with_other_settings_gets_its_own_processes_and_no_other_stays(
    project: Path,
) -> None:
    (project / "app.py").write_text(
        "from fxtrio.app import create_app\napp = create_app('.', ssr={'heap_mb': 77})\n"
    )
    async with starting(project) as server:
        assert b"Running on" in await server.until(b"Running on")
        with trio.fail_after(ENDED):
            await wait_until(lambda: len(nodes(server.process.pid)) == 1)
        [pid] = nodes(server.process.pid)
        assert b"--max-old-space-size=77" in read_command(pid)


@pytest.mark.node
async def test_an_app_that_cannot_be_imported_leaves_no_process(project: Path) -> None:
    (project / "app.py").write_text("raise RuntimeError('nothing works')\n")
    async with starting(project) as server:
        await wait_until(lambda: nodes(server.process.pid) or server.process.returncode is not None)
        started = nodes(server.process.pid)
        output = await server.until(b"nothing works")
        assert b"nothing works" in output
        assert await server.process.wait() == 1
        for pid in started:
            await ended(pid)


@pytest.mark.node
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
async def test_a_signal_while_the_app_is_imported_ends_what_starts_beside_it(
    project: Path, number: signal.Signals
) -> None:
    (project / "app.py").write_text(
        "import sys, time\nprint('importing', file=sys.stderr, flush=True)\ntime.sleep(60)\n"
    )
    async with starting(project) as server:
        await server.until(b"importing")
        [pid] = nodes(server.process.pid)
        server.process.send_signal(number)
        await server.process.wait()
        await ended(pid)


def test_a_server_does_not_look_at_all_of_its_objects_with_each_few_connections() -> None:
    code = (
        "import gc; from fxtrio.cli.serve import _import_server; _import_server(with_app=False); "
        "print(gc.isenabled(), gc.get_freeze_count() > 10_000, gc.get_threshold()[0] >= 10_000)"
    )
    command = [sys.executable, "-c", code]
    run = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert run.stdout.split() == ["True"] * 3
