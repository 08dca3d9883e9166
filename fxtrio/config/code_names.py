"""Which code of the application its settings name: middleware, hooks, plugins, functions.

Every setting counts whose validator is `dotted` or `dotted_name`, so a new one is not forgotten by
the parts that look at the code: standalone folders, `fx check`, and `fx dev`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fxtrio.config import validators
from fxtrio.config.model import Config
from fxtrio.config.plugin_names import BUILT_IN
from fxtrio.config.section import Section, settings_of

NAMING = (validators.dotted, validators.dotted_name)
"""The validators of settings that name code."""


def code_names(config: Config) -> Iterator[tuple[str, str]]:
    """Yield each name of code as it is set, with the path of its setting in Python.

    The framework's own plugins are left out, and their settings are not: any text there that has
    the form of a dotted name counts.
    """
    yield from _named("", config)
    for index, plugin in enumerate(config.plugins):
        path = f"plugins.{index}"
        if plugin.name not in BUILT_IN:
            yield f"{path}.name", plugin.name
        yield from _in_values(f"{path}.settings", plugin.settings)


def _named(prefix: str, section: Section) -> Iterator[tuple[str, str]]:
    for name, setting in settings_of(type(section)).items():
        path, value = f"{prefix}{name}", getattr(section, name)
        if isinstance(value, Section):
            yield from _named(f"{path}.", value)
        elif setting.validator in NAMING and value:
            names = (value,) if isinstance(value, str) else value
            yield from ((path, name) for name in names)


def _in_values(path: str, value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        if validators.is_dotted(value):
            yield path, value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from _in_values(f"{path}.{key}", inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _in_values(path, inner)
