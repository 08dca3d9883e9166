"""docs/reference/config.md lists every setting with its default."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

from fxtrio.cli.config import settings
from fxtrio.config import Config
from fxtrio.config.section import is_section, settings_of
from fxtrio.config.validators import camel
from fxtrio.sizes import to_bytes

PAGE = Path(__file__).resolve().parents[2] / "docs/reference/config.md"
ROW = re.compile(r"^\| `([\w.]+)` \| `(.*?)` \| (.+) \|$", re.MULTILINE)


def documented() -> dict[str, tuple[Any, str]]:
    return {
        key: (json.loads(default), meaning)
        for key, default, meaning in ROW.findall(PAGE.read_text(encoding="utf-8"))
    }


def expected() -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in settings(Config()).items():
        if isinstance(value, dict) and value:
            flat.update({f"{name}.{inner}": setting for inner, setting in value.items()})
        else:
            flat[name] = list(value) if isinstance(value, tuple) else value
    return flat


def test_every_setting_is_documented_with_its_default() -> None:
    found = {key: default for key, (default, _) in documented().items()}

    assert found.keys() == expected().keys()
    for key, value in expected().items():
        default = found[key]
        if isinstance(value, int) and isinstance(default, str):
            default = to_bytes(default)
        assert default == (list(value) if isinstance(value, tuple) else value), key


def test_every_choice_is_named() -> None:
    rows = documented()
    for name, attribute in settings_of(Config).items():
        section: Any = attribute.type
        if not is_section(section):
            choices = {camel(name): section}
        else:
            choices = {
                f"{camel(name)}.{camel(inner)}": setting.type
                for inner, setting in settings_of(section).items()
            }
        for key, target in choices.items():
            if get_origin(target) is Literal:
                _, meaning = rows[key]
                assert [choice for choice in get_args(target) if f"`{choice}`" not in meaning] == []
