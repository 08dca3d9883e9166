"""Opens an app for a test: compiled, its lifespan run, no sockets."""

from __future__ import annotations

import hashlib
import logging
import os
import pickle
import re
import secrets
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import (
    AbstractAsyncContextManager,
    AbstractContextManager,
    AsyncExitStack,
    asynccontextmanager,
    nullcontext,
)
from functools import partial
from pathlib import Path
from typing import Any, Literal

import attrs
import msgspec
import trio
from msgspec.structs import asdict, replace

from fxtrio.app import assemble, open_pool
from fxtrio.app_handle import App
from fxtrio.application import Application
from fxtrio.compile.build import build_project, compile_server
from fxtrio.config import Config, DatabaseConfig, PluginConfig, env_files, join, load_config
from fxtrio.context import counting, entered
from fxtrio.db import open_database
from fxtrio.jobs.running.job_clock import JobClock
from fxtrio.manifest import FOLDERS, load_manifest
from fxtrio.serve.openapi.answer import WholeDocument
from fxtrio.serve.pages.resources import Renderer
from fxtrio.ssr.frames import Rendered
from fxtrio.temporary_folders import open_temporary_folder
from fxtrio.testing.client import Client
from fxtrio.testing.clock import held_clock, holding
from fxtrio.testing.unwrap_groups import ungrouped
from fxtrio.tools.openapi.describe import NotDescribed, describe

log = logging.getLogger("fx.openapi")

_DESCRIBED_BY = (".py", ".fxl", ".toml")
"""Suffixes of files that the OpenAPI document of a project depends on."""

_NOT_OWN = frozenset({".fx", ".git", ".venv", "__pycache__", "node_modules", "venv"})
"""Folders in which nothing is the project's own."""

_described: dict[bytes, WholeDocument] = {}


class NoParts:
    """A stream of one empty part."""

    async def __aiter__(self) -> AsyncIterator[Rendered]:
        """Give the part that closes the root element."""
        yield Rendered(b"", b"</div>")

    async def resolve(self, name: str, value: bytes) -> None:
        """Take a value that nothing is waiting for."""

    async def reject(self, name: str, error: bytes) -> None:
        """Take an error that nothing is waiting for."""


class NoRender:
    """Stands in for Node: pages have their data and head, and an empty root element."""

    async def render(self, page: int, payload: bytes) -> Rendered:
        """Return an empty render."""
        return Rendered(b"", b"")

    @asynccontextmanager
    async def stream(self, page: int, payload: bytes) -> AsyncIterator[NoParts]:
        """Open an empty stream."""
        yield NoParts()


@asynccontextmanager
async def open_no_render() -> AsyncIterator[Renderer]:
    """Open a renderer that needs no Node."""
    yield NoRender()


def open_app(
    root: str | Path,
    *,
    render: bool = False,
    mode: Literal["production", "development"] = "development",
    data: str | Path | None = None,
    open_renderer: Any = open_no_render,
    **settings: Any,
) -> AbstractAsyncContextManager[Client]:
    """Run the project in ``root`` for the length of the block.

    Yields a `Client`; the app is its ``app``. ``settings`` are those of `load_config`; settings
    of a plugin are merged key by key with those of the project. Without ``render`` the app needs
    nothing outside the process. With it, the project is built and Node renders its pages. A mock
    clock that jumps automatically waits for Node, for worker threads, and for the process that
    describes the project when `/openapi.json` is first requested (`fxtrio.testing.clock`).

    The database of the settings is replaced by one for this test (SQLite in memory, or a new one
    on the same PostgreSQL), with all migrations. Plugins store their files in the folder
    ``data``, by default an empty folder that is deleted after the block, so tests do not touch
    the project's data. The block's code belongs to the app: `get_auth`, `enqueue` and `get_app`
    work there. The variables of `.env` and `.env.local` are set while the block runs. The block's
    exceptions propagate unchanged, and not in an exception group.

    Raises ConfigInvalid for settings, and CompileFailed for page files with problems.
    """
    opened = _open(
        Path(root).resolve(),
        settings,
        mode=None if render else mode,
        data=None if data is None else Path(data),
        open_renderer=open_renderer,
    )
    return ungrouped(opened)


@asynccontextmanager
async def _open(
    root: Path,
    settings: dict[str, Any],
    *,
    mode: Literal["production", "development"] | None,
    data: Path | None,
    open_renderer: Callable[[], AbstractAsyncContextManager[Renderer]],
) -> AsyncIterator[Client]:
    """Run an app; without a ``mode`` it is built, and rendered in Node."""
    async with AsyncExitStack() as stack:
        stack.enter_context(env_files(root))
        held = stack.enter_context(held_clock())
        build = stack.enter_context(open_temporary_folder("fxtrio-app-"))
        loaded = load_config(root, **with_plugins(root, settings))
        hold = nullcontext if held is None else held.hold_for_process
        config = await stack.enter_async_context(own_database(loaded, hold))
        data = build / "data" if data is None else data
        if mode is None:
            with hold():
                await build_project(root, config, mode="production", report=lambda line: None)
            build = root / FOLDERS["production"]
            manifest = load_manifest(build)
            open_renderer = partial(open_pool, build, manifest, config)
        else:
            manifest = compile_server(root, config, build, mode=mode)
        app = assemble(root, config, build, manifest, open_renderer=holding(open_renderer, held))
        app.openapi = LazyDocument(root, loaded, hold)
        for plugin in app.plugins:
            plugin.isolate(data)
        if held is not None:
            app.job_clock = JobClock.started(fixed=True)  # a server's clock does not jump along
            stack.enter_context(held.hold_while(lambda: under_way(app)))
        with hold() if config.database.url.startswith("postgres") else nullcontext():
            token = counting.set(True)  # of the tasks that the lifespan starts
            try:
                await stack.enter_async_context(app.router.lifespan_context(app))
            finally:
                counting.reset(token)
        running: App = app.state.fx
        with entered(running):
            yield Client(app)


def under_way(app: Application) -> int:
    """Return how many calls run on the asyncio loop and on a database server, once it runs."""
    running: App | None = getattr(app.state, "fx", None)
    if running is None:
        return 0
    calls = 0 if running.portal is None else running.portal.calls
    return calls + (0 if running.database is None else running.database.under_way)


def with_plugins(root: Path, settings: dict[str, Any]) -> dict[str, Any]:
    """Return ``settings`` with the project's plugins, and their settings; passed ones win.

    An empty list opens none; what is no plugin is left to the check.
    """
    loaded = settings.get("plugins")
    if not isinstance(loaded, list | tuple) or not loaded:
        return settings
    others = {name: value for name, value in settings.items() if name != "plugins"}
    joined: dict[Any, Any] = {
        plugin.name: asdict(plugin) for plugin in load_config(root, **others).plugins
    }
    for number, entry in enumerate(loaded):
        if isinstance(entry, PluginConfig):
            entry = asdict(entry)
        elif isinstance(entry, str):
            entry = {"name": entry}
        name = entry.get("name", number) if isinstance(entry, Mapping) else number
        joined[name] = join(joined[name], entry) if name in joined else entry
    return {**settings, "plugins": list(joined.values())}


@asynccontextmanager
async def own_database(
    config: Config, hold: Callable[[], AbstractContextManager[None]]
) -> AsyncIterator[Config]:
    """Give the settings with an empty database instead of the app's, if it has one.

    For SQLite it is in memory; on a PostgreSQL it is made on the same server, whose user
    must be allowed to, and dropped after the block; ``hold`` keeps a mock clock meanwhile.
    """
    settings = config.database
    if not settings.url:
        yield config
    elif settings.url.startswith("sqlite"):
        yield _with(config, "sqlite://")
    else:
        name = f"fx_test_{secrets.token_hex(8)}"
        with hold():
            await _tell(settings, f"create database {name}")
        try:
            yield _with(config, _named(settings.url, name))
        finally:
            with hold():
                await _tell(settings, f"drop database {name} with (force)")


def _with(config: Config, url: str) -> Config:
    return replace(config, database=replace(config.database, url=url, migrate="run"))


def _named(url: str, name: str) -> str:
    """Return a URL with another database."""
    return re.sub(r"^(\w+://[^/?#]*)(/[^?#]*)?", rf"\1/{name}", url)


async def _tell(settings: DatabaseConfig, sql: str) -> None:
    """Run a statement beside the database of the settings, which need not exist."""
    beside = replace(settings, url=_named(settings.url, "postgres"), pool=1)
    async with open_database(beside, Path()) as database:
        await database.execute(sql)


@attrs.define(eq=False)
class LazyDocument:
    """The OpenAPI document of an app in tests, created at the first request.

    Describing takes a process that imports the project, and most tests never ask. Equal projects
    with equal settings are described once.
    """

    _root: Path
    _config: Config
    _hold: Callable[[], AbstractContextManager[None]]
    """Keeps a mock clock while another process works."""

    _making: trio.Lock = attrs.field(factory=trio.Lock)

    async def get(self) -> WholeDocument | None:
        """Return the document; None, after a line in the log, when the project has none."""
        async with self._making:
            state = await trio.to_thread.run_sync(_state_of, self._root, self._config)
            if state not in _described:
                try:
                    with self._hold():
                        document = await describe(self._root, self._config)
                except NotDescribed as error:
                    log.error("%s", error)
                    return None
                encoded = msgspec.json.encode(document)
                _described[state] = msgspec.json.decode(encoded, type=WholeDocument)
            return _described[state]


def _state_of(root: Path, config: Config) -> bytes:
    """Return a digest of all that a description depends on."""
    digest = hashlib.sha256(pickle.dumps((root, config)))
    for place, folders, files in os.walk(root):
        folders[:] = sorted(set(folders) - _NOT_OWN)
        for name in sorted(files):
            if name.endswith(_DESCRIBED_BY):
                path = Path(place, name)
                found = path.stat()
                digest.update(pickle.dumps((str(path), found.st_mtime_ns, found.st_size)))
    return digest.digest()
