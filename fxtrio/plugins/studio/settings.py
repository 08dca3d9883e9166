"""The settings of an app with the source of each, without secrets. Pure."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from msgspec.structs import asdict

from fxtrio.config import CONFIG_FILE, Config
from fxtrio.config.section import Section
from fxtrio.config.validators import camel
from fxtrio.db.open import without_password

_SECRET = frozenset({"secretKeys", "plugins"})
"""Secret keys are never shown, and of plugins, whose settings may be secrets, the names alone."""


def setting_rows(
    config: Config, root: Path, environment: Mapping[str, str] = os.environ
) -> Iterator[tuple[str, str, str]]:
    """Yield the key of each setting, its value, and where it comes from."""
    written = _written(root)
    defaults = dict(_flat(Config()))
    for key, value in _flat(config):
        section, _, name = key.partition(".")
        inside = written.get(section)
        in_file = name in inside if name and isinstance(inside, dict) else section in written
        variable = "FX_" + "__".join(
            re.sub("([A-Z])", r"_\1", part).upper() for part in key.split(".")
        )
        if variable in environment:
            source = variable
        elif value == defaults.get(key):
            source = CONFIG_FILE if in_file else "default"
        else:
            source = CONFIG_FILE if in_file else "code"
        yield key, _value_text(value), source
    yield "plugins", ", ".join(plugin.name for plugin in config.plugins), CONFIG_FILE
    yield "secretKeys", f"{len(config.secret_keys)} set", "FX_SECRET_KEY"


def _flat(config: Config) -> Iterator[tuple[str, Any]]:
    for name, value in asdict(config).items():
        key = camel(name)
        if key in _SECRET:
            continue
        if isinstance(value, Section):
            for inner, setting in asdict(value).items():
                yield f"{key}.{camel(inner)}", setting
        else:
            yield key, value


def _value_text(value: Any) -> str:
    """Return a value as JSON, without the passwords of its URLs."""
    return without_password(json.dumps(value, default=str))


def _written(root: Path) -> dict[str, Any]:
    try:
        found = json.loads((root / CONFIG_FILE).read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
