"""Whether a thing may get another name, and the edits that give it. Pure."""

from __future__ import annotations

import builtins
import keyword
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from fxtrio.compile.check.names.bindings import names_of
from fxtrio.compile.split.python_statements import Broken, parse_module
from fxtrio.tools.lsp.answers.data_paths import keys_below
from fxtrio.tools.lsp.answers.references import NamingPlace
from fxtrio.tools.lsp.answers.symbols import ActionThing, KeyThing, Setting, Thing
from fxtrio.tools.lsp.documents.page import ParsedPage
from fxtrio.tools.lsp.rpc import request_failed

Edits = dict[str, list[dict[str, Any]]]
"""Changes by URI."""


def crosses(thing: Thing | None) -> bool:
    """Whether a thing has a name in both halves."""
    return isinstance(thing, ActionThing) or (isinstance(thing, KeyThing) and not thing.is_variable)


def check_renamable(thing: Thing | None) -> KeyThing | ActionThing:
    """Return the thing. Raises JsonRpcException for what has no name that could be changed here."""
    if isinstance(thing, ActionThing):
        return thing
    if not isinstance(thing, KeyThing) or not crosses(thing):
        raise request_failed("There is no name here that both halves use.")
    if thing.origin[:1] == ("params",):
        raise request_failed(f"{thing.name!r} is a part of the page's path: rename the file.")
    if not thing.keys:
        raise request_failed(
            f"The type of {thing.name!r} is unknown: annotate what the loader or action "
            "returns, and save the file."
        )
    for key in thing.keys:
        if key.attribute not in ("", key.name):
            raise request_failed(f"{key.name!r} is an alias of {key.attribute!r}: rename it there.")
        if key.place is None:
            raise request_failed(f"{key.name!r} is written nowhere in this project.")
    return thing


def check_name(thing: KeyThing | ActionThing, new: str, setting: Setting, home: ParsedPage) -> None:
    """Raise JsonRpcException for a name that cannot be, or is taken.

    ``home`` is the file that an action is in.
    """
    if not new.isidentifier() or not new.isascii() or keyword.iskeyword(new):
        raise request_failed(f"{new!r} is no name in both languages.")
    if isinstance(thing, KeyThing):
        siblings = keys_below(setting.types, thing.origin[:-1]) if thing.origin else []
        if any(key.name == new for key in siblings):
            raise request_failed(f"There is already a key {new!r}.")
        return
    module = parse_module(home.checked.python)
    if isinstance(module, Broken):
        raise request_failed(f"{home.path} has a mistake of syntax: correct it first.")
    names = names_of(module.body)
    if new in names.bound | names.used or hasattr(builtins, new):
        raise request_failed(f"{home.path} has a name {new!r} already.")


def edits_of(sites: Iterable[NamingPlace], new: str) -> Edits:
    """Return the edits that write ``new`` at all sites."""
    edits: Edits = defaultdict(list)
    for site in sites:
        # The variable keeps its name.
        text = f"{new}: " if site.shorthand else new
        end = site.range["start"] if site.shorthand else site.range["end"]
        range_ = {"start": site.range["start"], "end": end}
        edits[site.file.as_uri()].append({"range": range_, "newText": text})
    return dict(edits)


def merged(all_edits: Iterable[Edits]) -> Edits:
    """Return all edits, each once."""
    found: Edits = defaultdict(list)
    for edits in all_edits:
        for uri, listed in edits.items():
            found[uri] += [one for one in listed if one not in found[uri]]
    return dict(found)
