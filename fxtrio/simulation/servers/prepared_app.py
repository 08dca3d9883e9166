"""An app that is compiled once, and whose state is new in each process of a simulation."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path, PurePath
from types import CodeType, ModuleType
from typing import Any

import attrs
from msgspec.structs import replace

from fxtrio.app import put_together
from fxtrio.application import Application
from fxtrio.compile.build import compile_server
from fxtrio.config import Config, env_files, load_config
from fxtrio.config.brokers import broker_kind
from fxtrio.errors import PlacedError
from fxtrio.import_path import put_on_path, remove_module
from fxtrio.imports import Imports, resolve
from fxtrio.jobs.running.job_clock import JobClock
from fxtrio.manifest import Manifest
from fxtrio.plugins.load import load_plugins
from fxtrio.serve.request.bodies import starlette_bodies
from fxtrio.serve.request.model.validate import forget_models
from fxtrio.serve.request.response import starlette_files
from fxtrio.simulation.engine.randomness import START
from fxtrio.simulation.ledger import create_table
from fxtrio.temporary_folders import open_temporary_folder
from fxtrio.testing.open import open_no_render, with_plugins

_KEY = "a key of simulations, which protects nothing"
STORE = "redis://simulated"
"""The broker of several processes, which a simulated one stands in for."""

_IN_MEMORY = Path("/dev/shm")
_ROOM = 1 << 28
"""What must be free in memory for the files of simulations (bytes)."""

_INSTALLED = ("site-packages", "dist-packages", ".venv", "venv", "node_modules")


class SettingNotSimulated(PlacedError):
    """The settings name a server, which a simulation cannot repeat."""


class _CachedImports(Imports):
    """Reads and compiles each file once, and runs it for each process."""

    def __init__(self, root: Path, build: Path) -> None:
        super().__init__(root, build)
        self.codes: dict[tuple[Path, bytes], CodeType] = {}
        self._texts: dict[str, bytes] = {}

    def _read(self, code: str) -> bytes:
        text = self._texts.get(code)
        if text is None:
            text = self._texts[code] = super()._read(code)
        return text

    def _compiled(self, text: bytes, path: Path) -> CodeType:
        code = self.codes.get((path, text))
        if code is None:
            code = self.codes[path, text] = super()._compiled(text, path)
        return code


@attrs.define(eq=False)
class PreparedApp:
    """A compiled project. Created by `prepare`; its files are removed by `close`."""

    root: Path
    config: Config
    manifest: Manifest
    folder: Path
    _imports: _CachedImports
    _stack: ExitStack
    _database: Path | None = None
    """A database in which all migrations have been run, once there is one."""

    _last_module: ModuleType | None = None
    """The last one that was imported and is not the project's."""

    _tests: list[ModuleType] = attrs.field(factory=list)
    """Modules below the project that stay, such as those of its tests."""

    _next: int = 0

    def new_folder(self) -> Path:
        """Make the folder of a run, with its database."""
        self._next += 1
        folder = self.folder / f"run-{self._next}"
        folder.mkdir()
        if self._database is not None:
            shutil.copy(self._database, folder / "app.db")
        return folder

    def keep_database(self, folder: Path) -> None:
        """Let the following runs begin with the database of a run that has ended."""
        found = folder / "app.db"
        if found.exists():
            self._database = self.folder / "migrated.db"
            shutil.copy(found, self._database)
            create_table(self._database)

    def forget_run(self, folder: Path) -> None:
        """Remove the folder of a run, and what the framework remembers of its classes."""
        shutil.rmtree(folder, ignore_errors=True)
        forget_models()

    def modules(self) -> list[ModuleType]:
        """Return the modules of the project that are imported, and perhaps some others."""
        return [*self._tests, *(module for _, module in self._modules_since_last())]

    def sources(self) -> dict[str, str]:
        """Return the Python of all page files that were imported, by path."""
        return {str(path): text.decode("utf-8") for path, text in self._imports.codes}

    def make_app(self, folder: Path, *, shared: bool) -> Application:
        """Return the app as another process would import it, with its database in ``folder``.

        ``shared`` is whether there are others, which it reaches over a store.
        """
        config = self.config
        if shared:
            config = replace(config, realtime=replace(config.realtime, broker=STORE))
        if config.database.url:
            url = f"sqlite:///{folder / 'app.db'}"
            database = replace(config.database, url=url, migrate="run")
            config = replace(config, database=database)
        put_on_path(self.root)  # another project may have been there since
        self._forget_modules()
        code = self._imports.all_files(self.manifest, config)
        plugins = load_plugins(config, root=self.root, resolve=resolve)
        app = Application(
            put_together(self.root, config, self.manifest, code, plugins),
            root=self.root,
            build=self.folder / "build",
            plugins=plugins,
            open_renderer=open_no_render,
        )
        for plugin in plugins:
            plugin.isolate(folder / "data")
        app.job_clock = JobClock(START, fixed=True)
        return app

    def close(self) -> None:
        """Remove all files."""
        self._stack.close()

    def _forget_modules(self) -> None:
        """Let the project's modules be imported anew, so that what they hold is new."""
        below = f"{self.root}{os.sep}"
        for name, module in self._modules_since_last():
            file = str(getattr(module, "__file__", None))
            inside = file[len(below) :] if file.startswith(below) else ""
            if inside and _is_of_app(inside):
                remove_module(name)
                continue
            self._last_module = module
            if inside:
                self._tests.append(module)

    def _modules_since_last(self) -> list[tuple[str, ModuleType]]:
        # They are at the end of a thousand modules.
        found = []
        for name, module in reversed(sys.modules.items()):
            if module is self._last_module:
                break
            found.append((name, module))
        return found[::-1]


def _is_of_app(file: str) -> bool:
    """Whether a file of a project belongs to the app, and not to its tests or an environment."""
    *folders, name = PurePath(file).parts
    if name == "conftest.py" or name.startswith("test_") or "tests" in folders[:1]:
        return False
    return not any(folder in _INSTALLED for folder in folders)


def prepare(root: Path, settings: Mapping[str, Any]) -> PreparedApp:
    """Compile the project in ``root``.

    Raises ConfigInvalid, CompileFailed, and SettingNotSimulated for settings that name a server.
    """
    with ExitStack() as stack:
        folder = stack.enter_context(open_temporary_folder("fxtrio-simulation-", _memory()))
        stack.enter_context(env_files(root))
        config = load_config(root, **with_plugins(root, dict(settings)))
        _require_simulated(config)
        if not config.secret_keys:
            config = replace(config, secret_keys=(_KEY,))
        (folder / "build").mkdir()
        manifest = compile_server(root, config, folder / "build", mode="production")
        starlette_bodies.install()
        starlette_files.install()
        imports = _CachedImports(root, folder / "build")
        return PreparedApp(root, config, manifest, folder, imports, stack.pop_all())
    raise AssertionError  # an ExitStack suppresses nothing here


def _memory() -> Path | None:
    """Return a folder whose files are in memory; None where there is none with enough room.

    A process that is killed leaves the same bytes there as on a disk, in a tenth of the time.
    """
    try:
        room = shutil.disk_usage(_IN_MEMORY).free
    except OSError:
        return None
    return _IN_MEMORY if room >= _ROOM and os.access(_IN_MEMORY, os.W_OK) else None


def _require_simulated(config: Config) -> None:
    url = config.database.url
    if url and not url.startswith("sqlite"):
        raise SettingNotSimulated(
            "database.url",
            "a simulation cannot repeat what a database server does",
            "Pass database={'url': 'sqlite:///app.db'} to simulate, or test it with 'open_app'",
        )
    if broker_kind(config.realtime.broker) is not None:
        raise SettingNotSimulated(
            "realtime.broker",
            "a simulation cannot repeat what a message broker does",
            "Pass realtime={'broker': 'memory'} to simulate; several processes share a simulated "
            "store",
        )
    if config.rate_limits and config.rate_limit_storage != "memory":
        raise SettingNotSimulated(
            "rateLimitStorage",
            "a simulation cannot repeat what a Redis server does",
            "Pass rate_limit_storage='memory' to simulate, which counts in each process",
        )
