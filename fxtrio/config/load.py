"""Reads the three layers of settings and joins them: file < environment < keywords."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from fxtrio.config.errors import ConfigInvalid, ConfigProblem
from fxtrio.config.json_positions import Place, key_places, nearest_place
from fxtrio.config.model import Config
from fxtrio.config.read import ENTRIES, Values, read_layer, read_text
from fxtrio.config.section import Section, is_section, settings_of
from fxtrio.errors import display_path
from fxtrio.nearest import nearest

CONFIG_FILE = "fx.config.json"
SECRET_VARIABLE = "FX_SECRET_KEY"
_PREFIX = "FX_"
_NO_SETTINGS = (SECRET_VARIABLE, "FX_MODE", "FX_PROJECT", "FX_DEVELOP_", "FX_EDITOR")
"""What else begins like a setting."""

_PUBLIC = "FX_PUBLIC_"
"""Begins the names of variables for UI code, and one of a setting."""


def load_config(
    root: Path, *, environ: Mapping[str, str] | None = None, **overrides: Any
) -> Config:
    """Return the settings of the app in the folder ``root``.

    Later wins: ``fx.config.json`` (camelCase, may be missing), ``environ`` (by default
    the process's: ``FX_BASE_URL``, ``FX_SSR__WORKERS``), ``overrides`` (snake_case:
    ``ssr={"workers": 2}`` or ``ssr__workers=2``). Sections are joined key by key, lists
    are replaced.

    Raises ConfigInvalid with every problem of all three.
    """
    config, problems = read_config(root, environ=environ, **overrides)
    if problems:
        raise ConfigInvalid(problems)
    return config


def read_config(
    root: Path, *, environ: Mapping[str, str] | None = None, **overrides: Any
) -> tuple[Config, tuple[ConfigProblem, ...]]:
    """Return the settings and their problems, as `load_config` finds them.

    A value that has a problem is left out, so another layer's or the default stands for it.
    """
    environ = os.environ if environ is None else environ
    layers = [
        _read_file(root / CONFIG_FILE),
        _read_environment(environ),
        read_layer(_unfold(overrides), place="keyword argument", spelling="snake"),
    ]
    joined: Values = {"name": root.resolve().name}
    for values, _ in layers:
        joined = join(joined, values)
    config, conflicts = _without_conflicts(_build(joined))
    problems = [problem for _, found in layers for problem in found]
    return config, (*problems, *locate(conflicts, root))


def is_named(root: Path, config: Config, *, environ: Mapping[str, str] | None = None) -> bool:
    """Whether the settings name the app in ``root``; otherwise it has the name of its folder."""
    environ = os.environ if environ is None else environ
    layers = _read_file(root / CONFIG_FILE), _read_environment(environ)
    return config.name != root.resolve().name or any("name" in values for values, _ in layers)


def locate(problems: Iterable[ConfigProblem], root: Path) -> tuple[ConfigProblem, ...]:
    """Return problems of settings with the place of their keys in the file.

    For problems that are found after the settings were read. Keys that the file does not have
    come from a variable or from the code.
    """
    path = root / CONFIG_FILE
    try:
        places = key_places(path.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError):
        places = {}
    return tuple(_at(problem, display_path(path), places) for problem in problems)


def _at(problem: ConfigProblem, file: str, places: Mapping[str, Place]) -> ConfigProblem:
    found = nearest_place(places, problem.key)
    if found is None:
        return replace(problem, place="settings")
    return replace(problem, place=file, line=found[0], column=found[1])


def _read_file(path: Path) -> tuple[Values, list[ConfigProblem]]:
    place = display_path(path)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        return {}, []
    except NotADirectoryError:
        cause = "is not a folder. Name the project's folder, such as 'Path(__file__).parent'"
        return {}, [ConfigProblem(place=display_path(path.parent), key="", cause=cause)]
    except (OSError, UnicodeDecodeError) as error:
        return {}, [ConfigProblem(place=place, key="", cause=f"cannot be read: {error}")]
    try:
        raw = json.loads(text, object_pairs_hook=_without_duplicates)
    except json.JSONDecodeError as error:
        where = {"line": error.lineno, "column": error.colno}
        return {}, [ConfigProblem(place=place, key="", cause=_not_json(text, error), **where)]
    except ValueError as error:
        return {}, [ConfigProblem(place=place, key="", cause=str(error))]
    except RecursionError:
        return {}, [ConfigProblem(place=place, key="", cause="is nested too deeply. Flatten it")]
    values, problems = read_layer(raw, place=place, spelling="camel")
    places = key_places(text) if problems else {}
    return values, [_at(problem, place, places) if problem.key else problem for problem in problems]


def _not_json(text: str, error: json.JSONDecodeError) -> str:
    """Describe a syntax error, also in terms that JavaScript developers know."""
    rest, before = text[error.pos :], text[: error.pos].rstrip()
    if rest.startswith(("//", "/*")):
        return "is not JSON: comments are not allowed in it"
    # Python 3.13 points at the comma, earlier ones at what comes after it.
    if error.msg.startswith("Illegal trailing") or (
        before.endswith(",") and rest[:1] in ("}", "]")
    ):
        return "is not JSON: there is a comma after the last entry"
    if rest.startswith("'"):
        return "is not JSON: text needs double quotes"
    return f"is not JSON: {error.msg}"


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise ValueError(f"sets {key!r} twice in one object")
        found[key] = value
    return found


def _read_environment(environ: Mapping[str, str]) -> tuple[Values, list[ConfigProblem]]:
    values: Values = {}
    problems: list[ConfigProblem] = []
    secret = environ.get(SECRET_VARIABLE)
    if secret is not None:
        keys = [key.strip() for key in secret.split(",") if key.strip()]
        found, problems_found = read_layer(
            {"secret_keys": keys}, place=SECRET_VARIABLE, spelling="snake"
        )
        values = join(values, found)
        # The value is a secret: the problem names the variable and not the setting.
        problems += [replace(problem, key="") for problem in problems_found]
    candidates = sorted(
        name for name in environ if name.startswith(_PREFIX) and not name.startswith(_NO_SETTINGS)
    )
    names = _variables() if candidates else {}  # which takes milliseconds of a start
    for variable in candidates:
        if variable in names:
            path, target = names[variable]
            raw = read_text(target, environ[variable])
            for part in reversed(path):
                raw = {part: raw}
            found, problems_found = read_layer(raw, place=variable, spelling="snake")
            values = join(values, found)
            problems += [replace(problem, key="") for problem in problems_found]
        elif not variable.startswith(_PUBLIC):
            # Other tools may have FX_ variables too; only a near miss is a mistake.
            near = nearest(variable, names, cutoff=0.85)
            if near:
                cause = f"is not a setting. Did you mean {near!r}?"
                problems.append(ConfigProblem(place=variable, key="", cause=cause))
    return values, problems


def _variables() -> dict[str, tuple[tuple[str, ...], Any]]:
    """Return every environment variable with its path of attribute names and its type."""
    found: dict[str, tuple[tuple[str, ...], Any]] = {}
    for name, attribute in settings_of(Config).items():
        if name == "secret_keys":
            continue
        found[_PREFIX + name.upper()] = ((name,), attribute.type)
        if is_section(attribute.type):
            for inner, setting in settings_of(attribute.type).items():
                variable = f"{_PREFIX}{name.upper()}__{inner.upper()}"
                found[variable] = ((name, inner), setting.type)
    return found


def _unfold(overrides: Mapping[str, Any]) -> Values:
    """Turn ``ssr__workers=2`` into ``{"ssr": {"workers": 2}}``; models into dicts."""
    unfolded: Values = {}
    for key, value in overrides.items():
        if isinstance(value, Section):
            value = msgspec.structs.asdict(value)
        for part in reversed(key.split("__")):
            value, key = {part: value}, part
        unfolded = join(unfolded, value)
    return unfolded


def join(under: Values, over: Mapping[str, Any]) -> Values:
    """Return ``under`` with what ``over`` sets, objects joined key by key."""
    joined = dict(under)
    for key, value in over.items():
        below = joined.get(key)
        if isinstance(below, dict) and isinstance(value, dict):
            value = join(below, value)
        joined[key] = value
    return joined


def _without_conflicts(config: Config) -> tuple[Config, list[ConfigProblem]]:
    """Return the settings without those that others forbid, and the problems."""
    cors = config.cors
    if not cors.credentials or "*" not in cors.origins:
        return config, []
    cause = "must be false when cors.origins has '*': name the origins that may send cookies"
    problem = ConfigProblem(place="", key="cors.credentials", cause=cause)
    return replace(config, cors=replace(cors, credentials=False)), [problem]


def _build(values: Values) -> Config:
    built: dict[str, Any] = {}
    for name, value in values.items():
        target = settings_of(Config)[name].type
        if name in ENTRIES:
            value = tuple(ENTRIES[name](**entry) for entry in value)
        elif is_section(target):
            value = target(**value)
        built[name] = value
    return Config(**built)
