"""One layer of settings (the file, the environment, keywords) → checked values and problems.

Pure. Called by `fxtrio.config.load` once for each layer, so that a problem can name the
place where it was made.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Literal, get_origin

import msgspec

from fxtrio.config.errors import ConfigProblem
from fxtrio.config.model import Config, CsrfConfig, LlmsConfig, PluginConfig
from fxtrio.config.pyxle import setting_remedy
from fxtrio.config.route_settings import RateLimitConfig
from fxtrio.config.section import Section, Setting, is_section, required, settings_of
from fxtrio.config.validators import camel, is_literal, one_of, require_kind
from fxtrio.nearest import nearest

Values = dict[str, Any]
"""Checked values by attribute name; a section is a dict of its own."""

FILE_ONLY_KEYS = {"$schema"}
_SECRETS = {"secretkeys", "secretkey", "secret", "secret_key"}
_OPTIONS = {"port", "host", "workers"}
"""Keys that people look for in the file; they are options of the command line."""

ENTRIES: Mapping[str, type[Section]] = {
    "plugins": PluginConfig,
    "rate_limits": RateLimitConfig,
}
"""Settings that are lists of objects, by attribute name."""

_SWITCHES: tuple[type, ...] = (CsrfConfig, LlmsConfig)
_KINDS: Mapping[Any, tuple[tuple[type, ...], str]] = {
    int: ((int,), "a whole number"),
    float: ((int, float), "a number"),
    bool: ((bool,), "true or false"),
    str: ((str,), "text"),
    dict: ((dict,), "an object"),
}


def read_layer(
    raw: Mapping[str, Any], *, place: str, spelling: Literal["camel", "snake"]
) -> tuple[Values, list[ConfigProblem]]:
    """Check the settings of one layer.

    ``spelling`` is how the layer writes its keys. A value with a problem is left out of
    the values; problems come in the order of the keys.
    """
    reader = _Reader(place=place, spelling=spelling)
    values = reader.section(Config, raw, prefix="")
    return values, reader.problems


def read_text(target: Any, text: str) -> Any:
    """Return the value that the environment variable's ``text`` means for a setting.

    ``target`` is the type of the setting. What cannot be read is returned as it is, so
    that the check names it.
    """
    if target is str or is_literal(target):
        return text
    if target is bool or is_section(target):
        lowered = text.strip().lower()
        if lowered in ("1", "true", "yes", "on"):
            return True
        if lowered in ("0", "false", "no", "off", ""):
            return False
    if _is_tuple(target) and not text.lstrip().startswith("["):
        return [part.strip() for part in text.split(",") if part.strip()]
    if target in (int, float):
        for number in (int, float):
            try:
                return number(text)
            except ValueError:
                continue
    try:
        return json.loads(text)
    except ValueError:
        return text


class _Reader(msgspec.Struct):
    place: str
    spelling: Literal["camel", "snake"]
    problems: list[ConfigProblem] = []

    def section(self, cls: type[Section], raw: Any, *, prefix: str) -> Values:
        if isinstance(raw, bool) and cls in _SWITCHES:
            raw = {"enabled": raw}
        if not isinstance(raw, Mapping):
            switch = "true, false or " if cls in _SWITCHES else ""
            self._report(prefix, f"must be {switch}an object, not {raw!r}")
            return {}
        known = {self._spell(name): at for name, at in settings_of(cls).items()}
        # The settings file is committed, and a secret in it would be: `_unknown` says where to.
        if cls is Config and self.spelling == "camel":
            del known["secretKeys"]
        values: Values = {}
        for key, value in raw.items():
            path = f"{prefix}.{key}" if prefix else str(key)
            if key in known:
                self._attribute(known[key], value, path, values)
            elif prefix or key not in FILE_ONLY_KEYS:
                self._unknown(path, str(key), known)
        return values

    def _attribute(self, attribute: Setting, raw: Any, path: str, values: Values) -> None:
        if is_section(attribute.type):
            values[attribute.name] = self.section(attribute.type, raw, prefix=path)
        elif attribute.name in ENTRIES:
            values[attribute.name] = self._entries(ENTRIES[attribute.name], raw, path)
        else:
            try:
                value = _structure(attribute, raw)
                if attribute.validator is not None:
                    attribute.validator(None, attribute, value)
            except ValueError as error:
                self._report(path, str(error))
            else:
                values[attribute.name] = value

    def _entries(self, cls: type[Section], raw: Any, path: str) -> list[Values]:
        if not isinstance(raw, list | tuple):
            self._report(path, f"must be a list, not {raw!r}")
            return []
        entries = []
        for index, entry in enumerate(raw):
            here = f"{path}.{index}"
            if isinstance(entry, cls):
                entry = msgspec.structs.asdict(entry)
            if isinstance(entry, str) and cls is PluginConfig:
                entry = {"name": entry}
            values = self.section(cls, entry, prefix=here)
            present = entry if isinstance(entry, Mapping) else required(cls)
            for name in (name for name in required(cls) if self._spell(name) not in present):
                self._report(here, f"must have a {self._spell(name)!r}")
            if not set(required(cls)) - values.keys():
                entries.append(values)
        return entries

    def _unknown(self, path: str, key: str, known: Mapping[str, Any]) -> None:
        if key.lower() in _SECRETS:
            self._report(path, "is not read from a file. Set FX_SECRET_KEY instead")
            return
        if key in _OPTIONS and not path.endswith(f".{key}"):
            self._report(path, f"is not a setting of the app. Write 'fx serve --{key}'")
            return
        if remedy := setting_remedy(path):
            self._report(path, f"is not a setting. {remedy}")
            return
        near = nearest(key.lower(), {k.lower() for k in known})
        hint = next((f" Did you mean {k!r}?" for k in known if k.lower() == near), "")
        names = "" if hint else f" Known here: {', '.join(sorted(known))}."
        self._report(path, f"is not a setting.{hint}{names}")

    def _spell(self, name: str) -> str:
        return camel(name) if self.spelling == "camel" else name

    def _report(self, key: str, cause: str) -> None:
        self.problems.append(ConfigProblem(place=self.place, key=key, cause=cause))


def _structure(attribute: Setting, raw: Any) -> Any:
    """Return ``raw`` as the attribute's type; raises ValueError with "must be …"."""
    if attribute.converter is None:
        return _checked(raw, attribute.type)
    if attribute.type is str and not isinstance(raw, str):
        raise ValueError(f"must be text, not {raw!r}")
    return attribute.converter(raw)


def _checked(raw: Any, target: Any) -> Any:
    """Return ``raw`` as ``target``. Never turns one JSON type into another, except int to float."""
    if is_literal(target):
        return one_of(raw, target)
    if _is_tuple(target):
        return _text_list(raw)
    accepted, words = _KINDS[get_origin(target) or target]
    require_kind(raw, accepted, words)
    return target(raw) if isinstance(target, type) else raw


def _is_tuple(target: Any) -> bool:
    return get_origin(target) is tuple


def _text_list(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list | tuple) or not all(isinstance(item, str) for item in value):
        raise ValueError(f"must be a list of text, not {value!r}")
    return tuple(value)
