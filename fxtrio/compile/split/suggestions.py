"""What people mean who write one of a page file's two languages in the other's half. Pure."""

from __future__ import annotations

import ast
import difflib
import keyword
import re
from collections.abc import Collection, Iterator

from fxtrio.compile.check import pyxle_migration
from fxtrio.compile.check.names.auto_imports import WITH_ACTION, WITH_LOADER
from fxtrio.compile.split.python_statements import nodes_of

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


_BROKEN = (
    (re.compile(r"'([(\[{])' was never closed"), "Write the bracket that closes {0!r}"),
    (re.compile(r"unmatched '(.)'"), "Remove {0!r}, or write the bracket that it closes"),
    (
        re.compile(r"parenthesis '(.)' does not match opening parenthesis '(.)'"),
        "Close {1!r} before {0!r}, or replace one of the two",
    ),
    (re.compile(r"unterminated triple-quoted"), "Write three quotes where the string ends"),
    (
        re.compile(r"unterminated (f-)?string"),
        "Close the string; write a quote inside it as \\' or \\\"",
    ),
    (re.compile(r"expected an indented block"), "Indent the lines below it, or write 'pass' there"),
    (re.compile(r"unindent does not match"), "Align the line with one of the lines above it"),
    (re.compile(r"unexpected indent"), "Remove the spaces at the beginning of the line"),
    (re.compile(r"tabs and spaces"), "Indent with spaces only"),
    (
        re.compile(r"expected '(except)' or '(finally)' block"),
        "Write '{0} …:' or '{1}:' below the 'try'",
    ),
    (re.compile(r"^expected '(.+?)'"), "Write {0!r} here"),
    (re.compile(r"':' expected after dictionary key"), "Write ': value' after the key"),
    (re.compile(r"forgot a comma"), "Write a comma between the two"),
    (re.compile(r"[Mm]aybe you meant '(==|:=)'"), "Write {0!r}, or assign in a line above"),
    (re.compile(r"from \.\.\. import"), "Write 'from module import name'"),
    (re.compile(r"Did you mean (print|exec)\("), "Write {0}(…)"),
    (re.compile(r"Did you mean (.+?)\??$"), "Write {0}"),
    (re.compile(r"cannot (assign to|delete) "), "Put a name, an attribute or an item there"),
    (re.compile(r"starred expression"), "Write it in a list or in a call, as in [*items]"),
    (
        re.compile(r"^'(break|continue)' (?:outside|not properly in) loop"),
        "Move {0!r} into a loop",
    ),
    (re.compile(r"^'(return|yield.*?)' outside function"), "Move {0!r} into a function"),
    (re.compile(r"outside async function"), "Write 'async def' for the function around it"),
    (re.compile(r"Generator expression must be"), "Put the generator in separate parentheses"),
    (re.compile(r"positional argument follows"), "Move arguments without a name to the front"),
    (re.compile(r"argument repeated"), "Remove one of the two"),
    (re.compile(r"duplicate argument '(.+)'"), "Rename or remove one parameter {0!r}"),
    (
        re.compile(r"^(?:non-default argument|parameter without a default) follows"),
        "Move parameters with a default to the end, or write '*' between the two",
    ),
    (re.compile(r"line continuation"), "Remove the backslash, or what follows it in the line"),
    (
        re.compile(r"(non-printable|invalid) character"),
        "Type the character again, with a plain keyboard",
    ),
    (
        re.compile(r"invalid (decimal|hexadecimal|octal|binary) literal"),
        "A name begins with a letter or '_'",
    ),
    (re.compile(r"leading zeros"), "Remove the zeros, or write '0o' for an octal number"),
    (re.compile(r"only contain ASCII"), "Write a string, and call '.encode()' on it"),
    (
        re.compile(r"^f-string: (?:empty expression|valid expression)"),
        "Write a value between the braces",
    ),
    (re.compile(r"^f-string: expecting.* '}'"), "Write '}}' after the value"),
    (
        re.compile(r"(global|nonlocal) declaration"),
        "Move the declaration to the top of the function",
    ),
    (re.compile(r"nested too deeply"), "Move a part of it to a function or a variable"),
)
"""Messages of Python's parser, of all its versions, and what to do; values are those in groups."""

_JAVASCRIPT = {
    "!": "Write 'not' in place of '!'",
    "new": "Leave out 'new': a class is called like a function",
    "from": "Write 'from module import name'",
}
"""By the word that Python does not understand."""

_TOKEN = re.compile(r"\w+|\S")


def broken_remedy(line: str, column: int, message: str) -> str:
    """Return what to do about Python that does not parse, without a full stop.

    ``column`` is the place in ``line`` that Python names, 1-based.
    """
    if line.lstrip().startswith(("//", "/*")):
        return "A comment begins with '#' in the server half"
    for pattern, remedy in _BROKEN:
        if found := pattern.search(message):
            return remedy.format(*found.groups())
    return _remedy_of_token(line, column)


def _remedy_of_token(line: str, column: int) -> str:
    """Return what to do about the word of which Python says no more than that it is wrong."""
    before = line[: column - 1].split()
    word = _TOKEN.match(line, column - 1)
    if word is None:
        last = f"after {before[-1]!r}" if before else "here"
        return f"Complete the statement: something is missing {last}"
    if before and (before[-1] in _JAVASCRIPT or word[0] in _JAVASCRIPT):
        return _JAVASCRIPT.get(before[-1]) or _JAVASCRIPT[word[0]]
    if word[0] in ("else", "elif", "except", "finally", "case") and not before:
        opening = {"except": "try", "finally": "try", "case": "match"}.get(word[0], "if")
        return f"Write {word[0]!r} directly below the block of its {opening!r}, as far to the right"
    if keyword.iskeyword(word[0]):
        return f"{word[0]!r} is a word of Python's own: take another name, or begin a line with it"
    where = f"between {before[-1]!r} and {word[0]!r}" if before else f"before {word[0]!r}"
    return f"Write what is missing {where}, or remove {word[0]!r}"


_PORTALS = ("fx.asyncio", "fxtrio.asyncio_portal")


def has_portal(module: ast.Module) -> bool:
    """Whether a module imports the portal to asyncio."""
    return any(
        isinstance(node, ast.ImportFrom) and node.module in _PORTALS for node in nodes_of(module)
    )


def asyncio_uses(module: ast.Module) -> Iterator[tuple[ast.Attribute | ast.alias, str, str]]:
    """Yield uses of asyncio that cannot work on trio: where, the name, what to write instead.

    Nothing is yielded for a module that runs a loop of its own, or has the portal to one.
    """
    if has_portal(module):
        return
    called = {"asyncio"}
    used: list[tuple[ast.Attribute | ast.alias, str]] = []
    for node in nodes_of(module):
        if isinstance(node, ast.Import):
            called.update(one.asname or one.name for one in node.names if one.name == "asyncio")
        elif isinstance(node, ast.ImportFrom) and node.module == "asyncio":
            used += [(one, one.name) for one in node.names]
    used += [
        (node, node.attr)
        for node in nodes_of(module)
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id in called
    ]
    if any(name in ("run", "Runner", "new_event_loop") for _, name in used):
        return
    for node, name in used:
        if name in _TRIO:
            yield node, name, _TRIO[name]
