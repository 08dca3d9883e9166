"""`pyxle.config.json` → `fx.config.json`. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from fxtrio.compile.problems import Problem
from fxtrio.config.json_positions import key_places, nearest_place
from fxtrio.config.pyxle import PLUGINS, SETTINGS

_SAME = (
    *("name", "pagesDir", "publicDir", "middleware", "routeMiddleware"),
    *("cors", "csrf", "llms", "dev", "observability"),
)
_OF_FX = {
    "csrf": ("enabled", "exemptPaths"),
    "observability": ("trustIncomingRequestId",),
    "dev": ("ignore",),
}
"""Keys of sections that are the same here; others have names of their own, or none."""

_WITHOUT_LOSS = frozenset(
    {"buildDir", "starlette", "vite", "debug", "studio", "navigation", "assets", "dev.watch"}
)
"""Settings without which an app does the same."""


def convert_config(text: str, path: str) -> tuple[str, list[Problem]] | None:
    """Return the settings as fxtrio has them, and what of them is lost; None when it is no JSON.

    ``path`` is that of ``text``, for the problems that report lost settings.
    """
    try:
        settings = json.loads(text)
    except ValueError:
        return None
    if not isinstance(settings, dict):
        return None
    converted: dict[str, Any] = {}
    lost: dict[str, str] = {}
    for key, value in settings.items():
        if key in _OF_FX and isinstance(value, Mapping):
            valid = {name: one for name, one in value.items() if name in _OF_FX[key]}
            _section(key, value, valid, lost)
            if valid:
                converted[key] = valid
        elif key in _SAME:
            converted[key] = value
        elif key == "cache" and isinstance(value, Mapping):
            converted["cacheControl"] = {route: _policy(rule) for route, rule in value.items()}
        elif key == "rateLimit" and isinstance(value, Mapping):
            converted.update(_limits(value, lost))
        elif key == "plugins" and isinstance(value, list):
            converted.update(_plugins(value, lost))
        elif key not in _WITHOUT_LOSS:
            lost[key] = SETTINGS.get(key, "See docs/reference/config.md")
    llms = converted.get("llms")
    if llms is True or (isinstance(llms, dict) and llms.get("enabled", True)):
        # Pyxle converts HTML only where the settings say so.
        converted["llms"] = {"autoConvert": False, **(llms if isinstance(llms, dict) else {})}
        converted["llms"].setdefault("enabled", True)
    places = key_places(text)
    left = [
        Problem(
            path,
            *(nearest_place(places, key) or (1, 1)),
            f"the setting '{key}' no longer exists",
            remedy,
        )
        for key, remedy in lost.items()
    ]
    return json.dumps(converted, indent=2, ensure_ascii=False) + "\n", left


def _section(
    name: str, settings: Mapping[str, Any], valid: dict[str, Any], lost: dict[str, str]
) -> None:
    """Give the keys of a section their names here."""
    for key, value in settings.items():
        path = f"{name}.{key}"
        if path == "observability.requestId":
            valid["enabled"] = value
        elif path == "observability.accessLog":
            form = settings.get("logFormat", "console")
            valid["accessLog"] = form if value is True and form in ("console", "json") else "off"
        elif key not in valid and path not in _WITHOUT_LOSS and path != "observability.logFormat":
            lost[path] = SETTINGS.get(path, "Leave it out")


def _policy(rule: Any) -> str:
    seconds = rule
    if isinstance(rule, Mapping):
        seconds = rule.get("sMaxage", rule.get("maxAge", 0))
    return f"public, s-maxage={seconds}, stale-while-revalidate={seconds}"


_OF_LIMITS = {"enabled", "requests", "windowSeconds", "exemptPaths", "trustForwardedFor"}


def _limits(settings: Mapping[str, Any], lost: dict[str, str]) -> dict[str, Any]:
    for key in ("exemptPaths", "trustForwardedFor"):
        if settings.get(key):
            lost[f"rateLimit.{key}"] = "Name the routes that are limited in 'rateLimits'"
    for key in settings.keys() - _OF_LIMITS:
        lost[f"rateLimit.{key}"] = "Leave it out"
    requests, seconds = settings.get("requests", 0), settings.get("windowSeconds", 60)
    if not settings.get("enabled", True):
        return {}
    if not requests:
        lost["rateLimit"] = "Write a number of requests into 'rateLimits'"
        return {}
    limit = f"{requests} per {max(round(seconds), 1)} seconds"
    return {"rateLimits": [{"route": "/*", "limit": limit}]}


def _plugins(plugins: list[Any], lost: dict[str, str]) -> dict[str, Any]:
    valid: list[Any] = []
    converted: dict[str, Any] = {}
    for index, entry in enumerate(plugins):
        name = entry.get("name") if isinstance(entry, Mapping) else entry
        settings = entry.get("settings", {}) if isinstance(entry, Mapping) else {}
        key = f"plugins.{index}"
        if name == "pyxle-auth":
            valid.append("auth")
            for setting in settings:
                lost[f"{key}.settings.{setting}"] = "See the settings in docs/reference/auth.md"
        elif name == "pyxle-db":
            # It runs its migrations when it starts.
            converted["database"] = {"url": _database_url(settings), "migrate": "run"}
            folder = str(settings.get("migrationsDir", "migrations")).strip("./")
            if folder != "migrations":
                lost[f"{key}.settings.migrationsDir"] = (
                    "Move the files to 'migrations', with names such as '0001_first.sql'"
                )
            for setting in sorted(set(settings) - {"url", "path", "migrationsDir"}):
                lost[f"{key}.settings.{setting}"] = "See docs/guides/database.md"
        elif name in PLUGINS:
            lost[key] = PLUGINS[name]
        else:
            valid.append(entry)
            lost[key] = "Write it as an fxtrio.plugins.Plugin: see docs/reference/plugins.md"
    return {**({"plugins": valid} if valid else {}), **converted}


def _database_url(settings: Mapping[str, Any]) -> str:
    url = str(settings.get("url") or "")
    if url:
        return url
    path = str(settings.get("path") or "data/app.db").removeprefix("./")
    return f"sqlite:///{path}"
