"""Which routes of an app can be files, and at which URLs. Pure.

What only a render shows, such as a read of a cookie, is found in `fxtrio.export.capture`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

import attrs

from fxtrio.compile.check.constants import says_static
from fxtrio.export.errors import Finding
from fxtrio.manifest import ApiRoute, Manifest, PageModule, PageRoute
from fxtrio.routes.pattern import Kind, parse_pattern
from fxtrio.routes.router import Router

SERVER = "A static host runs no code: serve it with 'fx serve', or leave it out (--allow-missing)"

_LONGEST_NAME = 240
"""Bytes of a file's name: most systems allow 255, and an ending is added."""

Text = Callable[[str], str]
"""Returns the text of a source file."""


@attrs.frozen
class ExportPlan:
    """The routes of an app, by whether they can be files."""

    routes: tuple[PageRoute, ...]
    endpoints: tuple[ApiRoute, ...]
    """Those whose response is a file: their module has ``STATIC = True``."""

    missing: Mapping[str, Finding]
    """Why other routes cannot: by pattern, or by source for what has none."""


def plan_export(manifest: Manifest, text: Text) -> ExportPlan:
    """Divide the routes of a build; ``text`` gives the sources for the lines of places."""
    missing: dict[str, Finding] = {}
    pages = []
    for route in manifest.routes:
        view = manifest.views[route.view]
        chain = [manifest.modules[source] for source in (*view.layouts, view.module)]
        reason = next((found for one in chain if (found := _needs_server(one, text))), None)
        if reason is None and "[" in route.pattern and not chain[-1].paths:
            remedy = "Add 'async def paths()' that returns the parameters of each page"
            reason = Finding(view.module, f"the pages of {route.pattern} are not known", remedy)
        if reason is None:
            pages.append(route)
        else:
            missing[route.pattern] = reason
    endpoints = []
    for api in manifest.api:
        reason = _needs_endpoint(api, text)
        if reason is None:
            endpoints.append(api)
        else:
            missing[api.pattern] = reason
    for module in manifest.actions:
        missing[module.source] = Finding(module.source, "its actions need a server", SERVER)
    return ExportPlan(tuple(pages), tuple(endpoints), missing)


def _needs_endpoint(api: ApiRoute, text: Text) -> Finding | None:
    """Return why the response of an endpoint cannot be a file."""
    if not says_static(text(api.source)):
        remedy = f"{SERVER}. If its response is the same for everybody, write STATIC = True"
        return Finding(api.source, "an endpoint needs a server", remedy)
    name = api.pattern.rpartition("/")[2]
    if "[" in api.pattern:
        return Finding(api.source, f"the URLs of {api.pattern} are not known", SERVER)
    if not PurePosixPath(name).suffix:
        remedy = f"Rename it such as {name}.xml.py: hosts know the type of a file by its name"
        return Finding(api.source, f"{api.pattern} has no file extension", remedy)
    return None


def _needs_server(module: PageModule, text: Text) -> Finding | None:
    for names, what in ((module.actions, "action"), (module.streams, "stream")):
        if names:
            place = placed(module.source, names[0], text)
            return Finding(place, f"the {what} {names[0]!r} needs a server", SERVER)
    if module.websocket:
        place = placed(module.source, "websocket", text)
        return Finding(place, "a WebSocket needs a server", SERVER)
    return None


def placed(source: str, function: str, text: Text) -> str:
    """Return the place of a function of a source file."""
    found = re.search(
        rf"^[ \t]*+(?:async[ \t]++)?def {re.escape(function)}\b", text(source), re.MULTILINE
    )
    if found is None:
        return source
    line = text(source).count("\n", 0, found.end()) + 1
    return f"{source}:{line}"


def expand(
    route: PageRoute, values: Any, *, place: str, router: Router[PageRoute]
) -> tuple[list[str], list[Finding]]:
    """Return the decoded paths of a route whose ``paths()`` returned ``values``, and mistakes."""
    segments = parse_pattern(route.pattern)
    names = {one.text: one.kind for one in segments if one.kind is not Kind.LITERAL}
    form = "{" + ", ".join(f'"{name}": "…"' for name in names) + "}"
    remedy = f"Return a list of {form}"
    if isinstance(values, str | bytes | Mapping) or not isinstance(values, Iterable):
        return [], [Finding(place, f"paths() returned {values!r:.80}", remedy)]
    paths: dict[str, None] = {}
    findings = []
    for value in values:
        cause = _wrong_value(value, names)
        if cause:
            findings.append(Finding(place, f"paths() returned {value!r:.80}: {cause}", remedy))
            continue
        texts = {name: _text_of(value.get(name, "")) for name in names}
        path = "/" + "/".join(
            part
            for part in (
                texts.get(one.text, one.text) if one.kind else one.text for one in segments
            )
            if part
        )
        match = router.match(path)
        if match is None or match[0] != route:
            by = "no page" if match is None else match[0].pattern
            cause = f"paths() returned {value!r:.80}, but {path} is served by {by}"
            findings.append(Finding(place, cause, "Leave it out, or rename the other page"))
        else:
            paths[path] = None
    return list(paths), findings


def _wrong_value(value: Any, names: Mapping[str, Kind]) -> str:
    """Return the problem of the parameters of one page; "" for none."""
    if not isinstance(value, Mapping):
        return "it is not a dict"
    unknown = [name for name in value if name not in names]
    if unknown:
        return f"{unknown[0]!r} is not a parameter"
    for name, kind in names.items():
        found = value.get(name, "")
        whole = _text_of(found)
        if whole is None:
            return f"{name!r} is {found!r:.40}, not a text"
        if not whole:
            if kind is Kind.OPTIONAL_REST:
                continue
            return f"{name!r} is missing"
        cause = _wrong_text(whole, kind)
        if cause:
            return f"{name!r} {cause}"
    return ""


def _wrong_text(text: str, kind: Kind) -> str:
    parts = text.split("/") if kind >= Kind.REST else [text]
    for part in parts:
        if part in ("", ".", "..") or "/" in part:
            return f"has the part {part!r}, which cannot be a folder"
        if not part.isprintable() or "\\" in part:
            return f"has the part {part!r}, with a character that file names cannot have"
        if len(part.encode(errors="replace")) > _LONGEST_NAME:
            return f"has a part of more than {_LONGEST_NAME} bytes"
    return ""


def _text_of(value: Any) -> Any:
    """Return a parameter as text; None for an invalid one. A list stands for its parts."""
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        value = "/".join(map(str, value))
    if isinstance(value, bool):
        return None
    return str(value) if isinstance(value, str | int) else None


def static_paths(routes: Iterable[PageRoute]) -> Iterator[tuple[PageRoute, str]]:
    """Yield the routes without parameters, and the path of each."""
    for route in routes:
        if "[" not in route.pattern:
            yield route, route.pattern
