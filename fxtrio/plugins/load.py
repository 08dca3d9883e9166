"""``plugins`` of the config → plugin objects, with their settings checked.

Importing what an application names is `app.py`'s work, and comes in as a callable.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

from fxtrio.config import CONFIG_FILE, Config, PluginConfig, locate
from fxtrio.config.errors import ConfigInvalid, ConfigProblem
from fxtrio.config.plugin_names import BUILT_IN
from fxtrio.config.pyxle import PLUGINS as PYXLE_PLUGINS
from fxtrio.errors import DottedNameUnknown, ExtraMissing
from fxtrio.nearest import nearest
from fxtrio.plugins.protocol import Plugin, PluginFailed, Resolver

_OF_SETTINGS = {
    "errors": "fxtrio.plugins.error_reports:ErrorReportsPlugin",
    "metrics": "fxtrio.plugins.metrics:MetricsPlugin",
}
"""Plugins that settings of their own open, by name; what they import are extras."""


def _implied(config: Config) -> tuple[PluginConfig, ...]:
    """Return the plugins that settings ask for without naming them."""
    observed = config.observability
    wanted = {"errors": observed.errors, "metrics": observed.metrics}
    return tuple(PluginConfig(name=name) for name, setting in wanted.items() if setting)


def load_plugins(config: Config, *, root: Path, resolve: Resolver) -> tuple[Plugin[Any], ...]:
    """Return the plugins of ``config`` in its order; none of them is open yet.

    Those of settings come first, so that they see what becomes of the others.

    ``root`` is the project folder. A name is one of `BUILT_IN`, or a dotted name that
    ``resolve`` knows: ``package.module:Class``.

    Raises ConfigInvalid with every problem of every plugin, ExtraMissing, and PluginFailed when a
    plugin's module or ``__init__`` raises.
    """
    entries = (*config.plugins, *_implied(config))
    if not entries:
        return ()
    # Heavy, and most apps have no plugins.
    from fxtrio.plugins.settings import SettingsInvalid, read_settings

    plugins: list[Plugin[Any]] = []
    problems: list[ConfigProblem] = []
    taken: dict[str, int] = {}
    for index, entry in enumerate(entries):
        key = f"plugins.{index}"
        try:
            plugin_class = _find(entry.name, resolve, named=index < len(config.plugins))
            settings = read_settings(plugin_class.Settings, entry.settings)
        except LookupError as error:
            problems.append(_problem(f"{key}.name", str(error.args[0])))
            continue
        except SettingsInvalid as error:
            for problem in error.mistakes:
                place = f"{key}.settings.{problem.key}".rstrip(".")
                problems.append(_problem(place, problem.cause))
            continue
        if plugin_class.name in taken:
            cause = f"is {plugin_class.name!r}, and so is plugins.{taken[plugin_class.name]}"
            problems.append(_problem(f"{key}.name", cause))
            continue
        taken[plugin_class.name] = index
        plugins.append(_make(plugin_class, settings, entry, config, root))
    if problems:
        raise ConfigInvalid(locate(problems, root))
    named = len(config.plugins)
    return (*plugins[named:], *plugins[:named])


def _find(name: str, resolve: Resolver, *, named: bool) -> type[Plugin[Any]]:
    """Return the class that ``name`` means. Raises LookupError with the cause, and ExtraMissing.

    One that is not ``named`` in the settings is asked for by a setting of its own.
    """
    if not named:
        return _import_extra(name)
    if "." not in name and ":" not in name and name not in BUILT_IN:
        near = nearest(name, BUILT_IN)
        hint = f" Did you mean {near!r}?" if near else ""
        hint = f" {PYXLE_PLUGINS[name]}." if name in PYXLE_PLUGINS else hint
        known = ", ".join(BUILT_IN)
        raise LookupError(
            f"must be a plugin of the framework ({known}) or 'package.module:Class', "
            f"not {name!r}.{hint}"
        )
    try:
        found = _import(BUILT_IN[name]) if name in BUILT_IN else resolve(name)
    except DottedNameUnknown as error:
        raise LookupError(f"is {name!r}, which cannot be found: {error.cause}") from error
    except Exception as error:  # the module is the application's code
        raise PluginFailed(name, "could not be imported", error) from error
    if not isinstance(found, type) or not issubclass(found, Plugin):
        raise LookupError(f"is {name!r}, which is not a class derived from fxtrio.plugins.Plugin")
    if not isinstance(getattr(found, "name", None), str):
        raise LookupError(f"is {name!r}, a class without a 'name'")
    return found


def _import_extra(name: str) -> type[Plugin[Any]]:
    try:
        found = _import(_OF_SETTINGS[name])
    except ModuleNotFoundError as error:
        raise ExtraMissing(f"observability.{name}", name, error.name or name) from error
    assert isinstance(found, type) and issubclass(found, Plugin)
    return found


def _import(name: str) -> object:
    module, _, attribute = name.partition(":")
    return getattr(importlib.import_module(module), attribute)


def _make(
    plugin_class: type[Plugin[Any]], settings: Any, entry: PluginConfig, config: Config, root: Path
) -> Plugin[Any]:
    try:
        return plugin_class(settings, config=config, root=root)
    except Exception as error:  # so is its __init__
        raise PluginFailed(entry.name, "could not be created", error) from error


def _problem(key: str, cause: str) -> ConfigProblem:
    return ConfigProblem(place=CONFIG_FILE, key=key, cause=cause)
