"""What people mean who write one of a page file's two languages in the other's half. Pure."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Collection, Iterator

from fxtrio.compile.check import pyxle_migration
from fxtrio.compile.check.names.auto_imports import WITH_ACTION, WITH_LOADER

RUNTIME = (*WITH_LOADER, *WITH_ACTION, "redirect", "NotFound")

_WORDS = {
    "true": "True",
    "false": "False",
    "null": "None",
    "undefined": "None",
    "console": "print",
    "JSON": "json",
    "loader": "server",
    "load_data": "server",
}
"""Words of JavaScript, and of other frameworks, with what stands for them here."""

HOMES = {
    **dict.fromkeys(RUNTIME, "fx.runtime"),
    "enqueue": "fx.tasks",
    "channel": "fx.realtime",
    "origin_allowed": "fx.realtime",
    "same_origin": "fx.realtime",
    "wait_closed": "fx.realtime",
    "authenticate_websocket": "fx.realtime",
    "revalidate": "fx.cache",
    "BaseModel": "pydantic",
}
"""Names of the framework that page files use, and `BaseModel`, with the module that has them."""

_BROWSER = frozenset({"window", "document", "localStorage", "sessionStorage", "navigator", "fetch"})

_TRIO = {
    "sleep": "trio.sleep(…)",
    "gather": "a nursery: trio.open_nursery()",
    "create_task": "a nursery: trio.open_nursery(), or fx.tasks.enqueue(…)",
    "ensure_future": "a nursery: trio.open_nursery(), or fx.tasks.enqueue(…)",
    "TaskGroup": "a nursery: trio.open_nursery()",
    "wait_for": "trio.fail_after(…)",
    "timeout": "trio.fail_after(…)",
    "to_thread": "trio.to_thread.run_sync(…)",
    "Lock": "trio.Lock()",
    "Condition": "trio.Condition()",
    "Event": "trio.Event()",
    "Semaphore": "trio.Semaphore(…)",
    "Queue": "trio.open_memory_channel(…)",
    "get_running_loop": "trio's own functions",
}


def undefined_remedy(name: str, known: Collection[str]) -> str:
    """Return what to do about an undefined name, without a full stop.

    ``known`` holds the names that can be used in the file.
    """
    if name in HOMES:
        return import_remedy(name)
    if name.lower() in RUNTIME:
        return f"Write {name.lower()!r}"
    if name in _WORDS:
        return f"Write {_WORDS[name]!r}"
    if foreign := pyxle_migration.remedy_for(name):
        return foreign
    if name in _BROWSER:
        return "It is a name of the browser: use it in the client half"
    close = difflib.get_close_matches(name, [*RUNTIME, *known], n=2)
    close = [other for other in close if other != name]
    return f"Define or import it, or write {close[0]!r}" if close else "Define or import it"


def import_remedy(name: str) -> str:
    """Return the import that gives a name of the framework (`HOMES`), without a full stop."""
    return f"Write 'from {HOMES[name]} import {name}'"


def broken_remedy(line: str, message: str) -> str:
    """Return what to do about a ``line`` of Python that does not parse; "" when it is not plain."""
    if line.lstrip().startswith(("//", "/*")):
        return "A comment begins with '#' in the server half"
    return ""


_PORTALS = ("fx.asyncio", "fxtrio.asyncio_portal")


def has_portal(module: ast.Module) -> bool:
    """Whether a module imports the portal to asyncio."""
    return any(
        isinstance(node, ast.ImportFrom) and node.module in _PORTALS for node in ast.walk(module)
    )


def asyncio_uses(module: ast.Module) -> Iterator[tuple[ast.Attribute | ast.alias, str, str]]:
    """Yield uses of asyncio that cannot work on trio: where, the name, what to write instead.

    Nothing is yielded for a module that runs a loop of its own, or has the portal to one.
    """
    if has_portal(module):
        return
    called = {"asyncio"}
    used: list[tuple[ast.Attribute | ast.alias, str]] = []
    for node in ast.walk(module):
        if isinstance(node, ast.Import):
            called.update(one.asname or one.name for one in node.names if one.name == "asyncio")
        elif isinstance(node, ast.ImportFrom) and node.module == "asyncio":
            used += [(one, one.name) for one in node.names]
    used += [
        (node, node.attr)
        for node in ast.walk(module)
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id in called
    ]
    if any(name in ("run", "Runner", "new_event_loop") for _, name in used):
        return
    for node, name in used:
        if name in _TRIO:
            yield node, name, _TRIO[name]
