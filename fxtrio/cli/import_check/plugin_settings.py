"""What the settings name: middleware, hooks, plugins, and the app itself."""

from __future__ import annotations

import difflib
import inspect
import sys
from collections.abc import Callable, Iterator
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import Any

from starlette.types import Receive, Scope, Send

from fxtrio.cli.import_check.importer import Attempts
from fxtrio.cli.import_check.messages import SettingProblem
from fxtrio.config import CONFIG_FILE, Config
from fxtrio.config.errors import ConfigInvalid
from fxtrio.config.validators import camel
from fxtrio.errors import DottedNameUnknown
from fxtrio.imports import resolve
from fxtrio.plugins import load_plugins
from fxtrio.plugins.protocol import Plugin, PluginFailed, plugin_routes

_AWAITABLES = ("Awaitable", "Coroutine")


def try_settings(root: Path, config: Config, attempts: Attempts) -> list[SettingProblem]:
    """Import what the settings name, and return what cannot be used of it.

    What the imports raise is left with ``attempts``. No plugin is opened.
    """
    problems = [*_task_problems(config)]
    for index, name in enumerate(config.middleware):
        problems += _try_name(f"middleware.{index}", name, _wrong_middleware, attempts)
    for group, names in config.route_middleware.lists().items():
        for index, name in enumerate(names):
            key = f"routeMiddleware.{group}.{index}"
            problems += _try_name(key, name, _wrong_hook, attempts)
    if config.observability.metrics and config.observability.metrics_guard:
        guard = config.observability.metrics_guard
        problems += _try_name("observability.metricsGuard", guard, _wrong_hook, attempts)
    if config.translate:
        problems += _try_name("translate", config.translate, _wrong_translate, attempts)
    try_plugins = partial(_try_plugins, root, config, attempts)
    return [*problems, *(attempts.run(CONFIG_FILE, try_plugins) or [])]


def _try_name(
    key: str, name: str, judge: Callable[[Any], str], attempts: Attempts
) -> list[SettingProblem]:
    def find() -> list[SettingProblem]:
        try:
            found = resolve(name)
        except DottedNameUnknown as error:
            return [SettingProblem(key, _unknown(name, error))]
        wrong = judge(found)
        return [SettingProblem(key, f"is {name!r}, {wrong}")] if wrong else []

    return attempts.run(CONFIG_FILE, find) or []


def _unknown(name: str, error: DottedNameUnknown) -> str:
    module, _, attribute = name.replace(":", ".").rpartition(".")
    near = difflib.get_close_matches(attribute, dir(sys.modules.get(module)), n=1)
    remedy = "It must be importable from the project folder"
    if near:
        remedy = f"Did you mean {name[: -len(attribute)] + near[0]!r}?"
    return f"is {name!r}, which cannot be imported: {error.cause}. {remedy}"


def _wrong_middleware(found: Any) -> str:
    """Return why ``found`` cannot be called with an app to make another one; "" when it can."""
    if inspect.iscoroutinefunction(found):
        return (
            "an async function. Name a class of ASGI middleware, or put a hook of "
            "requests into 'routeMiddleware'"
        )
    if not callable(found):
        return f"which is not a class but {_kind(found)}. Name a class of ASGI middleware"
    if not _takes(found, None):
        return "which cannot be called with the app alone. Give its other parameters defaults"
    plugins = found(_no_app)
    return "" if callable(plugins) else f"which returns {plugins!r} and no app. Return an ASGI app"


async def _no_app(scope: Scope, receive: Receive, send: Send) -> None:
    """Stand in for the app inside of middleware; never called."""


def _wrong_hook(found: Any) -> str:
    """Return why ``found`` cannot be awaited with a connection; "" when it can."""
    if not callable(found):
        return f"which is {_kind(found)}. Name an async function"
    if not _takes(found, None):
        return "which cannot be called with the request alone. Give it one parameter"
    if isinstance(found, type):
        if hasattr(found, "__await__"):
            return ""
        return "which is a class. Name an async function that takes the request"
    if inspect.isfunction(found) and not inspect.iscoroutinefunction(found):
        returned = str(found.__annotations__.get("return", ""))
        if not any(name in returned for name in _AWAITABLES):
            return f"which is not async. Write 'async def {found.__name__}'"
    return ""


def _wrong_translate(found: Any) -> str:
    """Return why ``found`` cannot be called with a request and a message; "" when it can."""
    if not callable(found) or inspect.iscoroutinefunction(found):
        return "which is not a function without async. Name one that returns a message"
    if not _takes(found, None, ""):
        return "which cannot be called with the request and a message. Give it two parameters"
    return ""


def _takes(found: Any, *values: object) -> bool:
    try:
        inspect.signature(found).bind(*values)
    except TypeError:
        return False
    except ValueError:  # a signature that cannot be known
        pass
    return True


def _kind(found: Any) -> str:
    return "a module" if inspect.ismodule(found) else f"a value of type {type(found).__name__}"


def _try_plugins(root: Path, config: Config, attempts: Attempts) -> list[SettingProblem]:
    try:
        plugins = load_plugins(config, root=root, resolve=resolve)
        plugin_routes(plugins, base_url=config.base_url)
        return [
            problem
            for index, plugin in enumerate(plugins)
            for problem in _plugin_problems(f"plugins.{index}", plugin, config)
        ]
    except ConfigInvalid as invalid:
        return [SettingProblem(problem.key, problem.cause) for problem in invalid.problems]
    except PluginFailed as failed:
        attempts.add(failed.__cause__ or failed, CONFIG_FILE)
    return []


def _plugin_problems(place: str, plugin: Plugin[Any], config: Config) -> Iterator[SettingProblem]:
    for key, cause in plugin.mistakes(resolve).items():
        yield SettingProblem(f"{place}.settings.{key}".rstrip("."), cause)
    for key in plugin.needs:
        if not attrgetter(key)(config):
            setting = ".".join(map(camel, key.split(".")))
            cause = (
                f"needs {setting!r}, which is not set here. Set it, here or where the app is served"
            )
            yield SettingProblem(place, cause, missing=True)


def _task_problems(config: Config) -> list[SettingProblem]:
    drain, whole = config.tasks.drain_timeout, config.timeouts.shutdown
    if drain < whole:
        return []
    cause = (
        f"is {drain:g} s, and the whole shutdown may take {whole:g} s. Lower it, or raise "
        "'timeouts.shutdown'"
    )
    return [SettingProblem("tasks.drainTimeout", cause)]
