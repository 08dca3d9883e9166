"""What the Python half of a page file can declare.

`python_declarations` reads it, and `language_detection` knows its names.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from typing import Any, Literal

import attrs

from fxtrio.compile.check import constants
from fxtrio.manifest import HeadNode, ScriptsMode

Kind = Literal["page", "layout", "template", "error", "not-found", "loading", "actions"]


@attrs.frozen
class Facts:
    """What the Python half of one file declares; see `PageModule` for each."""

    loader: str | None = None
    actions: tuple[str, ...] = ()
    streams: tuple[str, ...] = ()
    websocket: bool = False
    to_markdown: bool = False
    paths: bool = False
    head: tuple[HeadNode, ...] = ()
    head_function: bool = False
    revalidate: float | None = None
    memo: bool = True
    scripts: ScriptsMode | None = None
    static: bool = False
    standalone: bool = False


@attrs.frozen
class Value:
    """A module-level name whose value is read without running it."""

    field: str
    """Of `Facts`, and of `PageModule`."""

    read: Callable[[ast.expr], Any]
    """Returns what the code means; None when it is something else."""

    form: str
    """What the value should be, for messages."""

    remedy: str
    kinds: tuple[Kind, ...] = ()
    """The kinds of files in which it has an effect; empty: in all."""


VALUES: Mapping[str, Value] = {
    "CACHE": Value(
        "revalidate",
        constants.seconds,
        "a dict with 'revalidate' in seconds above 0",
        'Write CACHE = {"revalidate": 60}',
        ("page",),
    ),
    "MEMO": Value("memo", constants.flag, "True or False", "Write one of them"),
    "SCRIPTS": Value(
        "scripts",
        constants.scripts_mode,
        "'auto', 'none' or 'always'",
        "Write one of them",
        ("page", "layout", "template", "error", "not-found"),
    ),
    "STATIC": Value("static", constants.flag, "True or False", "Write one of them", ("page",)),
    "STANDALONE": Value(
        "standalone", constants.flag, "True or False", "Write one of them", ("layout", "template")
    ),
}

RESERVED = frozenset({"HEAD", *VALUES})
"""Module-level names that the compiler reads."""
