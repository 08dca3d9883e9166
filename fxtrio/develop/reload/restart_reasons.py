"""Why new code needs a new process: others still hold objects of the old code."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Collection, Iterable, Iterator
from functools import lru_cache
from gc import get_referents
from itertools import islice
from pathlib import Path
from types import ModuleType

import attrs
from starlette.datastructures import State

from fxtrio.application import Application
from fxtrio.config.code_names import code_names
from fxtrio.develop.reload.import_graph import file_of
from fxtrio.imports import split_name
from fxtrio.jobs.decorators import Job
from fxtrio.jobs.discovery import find_jobs
from fxtrio.manifest import MODULE_PREFIX
from fxtrio.routes.suffixes import MARKDOWN_SUFFIX, PAGE_SUFFIX


def find_reason(app: Application, app_module: str, files: Collection[str], root: Path) -> str:
    """Return why the modules of ``files`` cannot be swapped; "" when they can.

    ``app_module`` is the module that the app comes from, ``root`` the project folder.
    """
    fixed = {app_module: "the app is created there", "__main__": "it is the program"}
    for plugin in app.plugins:
        fixed[type(plugin).__module__] = "a plugin is created there"
    for setting, name in code_names(app.site.config):
        if setting == "middleware":
            fixed[split_name(name)[0]] = "middleware is created there"
        elif not setting.startswith("route_middleware."):  # these are looked up again
            fixed.setdefault(split_name(name)[0], "a setting names it")
    for file in files:
        if not file.endswith((".py", PAGE_SUFFIX, MARKDOWN_SUFFIX)):
            return f"{Path(file).name}: it is not Python text"
    are_pages = all(file.endswith((PAGE_SUFFIX, MARKDOWN_SUFFIX)) for file in files)
    candidates = _modules_in(root, MODULE_PREFIX if are_pages else "")
    modules = {file: module for module in candidates if (file := file_of(module)) in files}
    by_name = {module.__name__: file for file, module in modules.items()}
    for module in modules.values():
        if module.__name__ in fixed:
            return f"{module.__name__}: {fixed[module.__name__]}"
        jobs = (value for value in vars(module).values() if issubclass(type(value), Job))
        # One that is only imported stays what it is, unless its function is new.
        declared = [by_name[name] for job in jobs if (name := job.function.__module__) in by_name]
        if declared:
            return f"{Path(declared[0]).name}: durable jobs are declared there"
    return _live_instance(app, modules.values(), files, root)


def find_new_job(app: Application, root: Path) -> str:
    """Return which durable job the running app does not know, as a reason; "" for none.

    The job runner is created when the app begins, as is its table.
    """
    running = app.state.fx
    if running.database is None:
        return ""
    known = {} if running.jobs is None else running.jobs.jobs
    new = sorted(find_jobs(root).keys() - known.keys())
    return f"the job {new[0]} is new" if new else ""


def _live_instance(
    app: Application, modules: Iterable[ModuleType], files: Collection[str], root: Path
) -> str:
    """Return which class has instances that modules keep which are not swapped.

    They would be instances of a class that is no more: `isinstance` would deny them.
    """
    classes = {
        value
        for module in modules
        for value in vars(module).values()
        if issubclass(type(value), type) and value.__module__ == module.__name__
    }
    if not classes:
        return ""
    others = [module for module in _modules_in(root) if file_of(module) not in files]
    instances = LiveInstances({module.__name__ for module in others})
    holders = [(_place_of(module, root), vars(module).values()) for module in others]
    state = app.state._state if isinstance(app.state, State) else {}
    for name, values in [*holders, ("app.state", state.values())]:
        for one in instances.search(values):
            if type(one) in classes:
                return f"{name}: it keeps instances of {type(one).__name__}"
    return ""


def _place_of(module: ModuleType, root: Path) -> str:
    """Return the name of a module, or the file of one that nobody imports by name."""
    if module.__name__.startswith(MODULE_PREFIX):
        return Path(file_of(module)).relative_to(root).as_posix()
    return module.__name__


def _modules_in(root: Path, prefix: str = "") -> list[ModuleType]:
    """Return the modules of files below ``root``, of those whose names begin with ``prefix``."""
    start = f"{root}/"
    named = [module for name, module in list(sys.modules.items()) if name.startswith(prefix)]
    return [module for module in named if file_of(module).startswith(start)]


_MOST_OF_ONE = 1000  # values of one container: those of an app are mostly alike
_MOST_OF_HOLDER = 5000
_MOST = 50_000  # in all: they take some hundredths of a second
_CONTAINERS = (dict, list, tuple, set, frozenset, deque)
_CACHE = type(lru_cache(lambda: None))


@attrs.define(eq=False)
class LiveInstances:
    """Looks into holders, one after the other. Objects beyond its bounds are not found.

    Nothing of a value is read but its type: an expression of a query has every attribute, and a
    proxy of a request raises what it likes.
    """

    _modules: Collection[str]
    """Names of modules: into objects of their classes it looks, and into the classes."""

    _seen: set[int] = attrs.field(factory=set)

    def search(self, values: Iterable[object]) -> Iterator[object]:
        """Yield ``values`` and what they contain: in containers, caches and objects."""
        waiting = deque(values)
        most = min(len(self._seen) + _MOST_OF_HOLDER, _MOST)
        while waiting and len(self._seen) < most:
            value = waiting.popleft()
            if id(value) not in self._seen:
                self._seen.add(id(value))
                yield value
                waiting.extend(islice(self._content(value), _MOST_OF_ONE))

    def _content(self, value: object) -> Iterable[object]:
        kind = type(value)
        is_own = getattr(value if issubclass(kind, type) else kind, "__module__", "")
        if issubclass(kind, _CONTAINERS) or kind is _CACHE or is_own in self._modules:
            return get_referents(value)
        return ()
