"""What the compiler says, as a problem of a page file: in the page's words where it is about it."""

from __future__ import annotations

import re
from collections.abc import Iterable

from msgspec.structs import replace

from fxtrio.compile.check.problem_kinds import FindingKind
from fxtrio.compile.problems import Problem
from fxtrio.tools.types.gather.page_types import PageTypes, ProjectTypes
from fxtrio.tools.types.python.shapes import ObjectShape, Place, parts_of
from fxtrio.tools.types.report.compiler import Diagnostic
from fxtrio.tools.types.report.javascript_leniency import DECLARED_TWICE, OTHERS_NAMES, call_around
from fxtrio.tools.types.report.remedies import (
    NO_SUCH_EXPORT,
    client_keys,
    remedy_of,
    remedy_of_member,
    remedy_of_owner,
    taken_keys,
    unknown_key,
    written_keys,
)
from fxtrio.tools.types.ui.source.form_fields import page_at, similar
from fxtrio.tools.types.ui.virtual_project import UiHalf

_MODULE = re.compile(r"fx/c\d{5}")
_MESSAGE = re.compile(r"\$Message(\d+)")
_SUGGESTED = re.compile(r"(?<!\s)\s*+Did you mean (?:to write )?'([^']+)'\?")
_NO_MEMBER = re.compile(r"Property '([^']+)' does not exist on type '(.+)'\.")
_UNKNOWN_KEY = re.compile(r"and '([^']+)' does not exist in type")
_LITERAL = re.compile(r"""["'`]([^"'`\n]*)["'`]""")
_SEARCH = re.compile(r"<Form\s[^<>]{0,400}$")
_ATTRIBUTE = re.compile(r"""\s*(?:(?:href|action)\s*=\s*\{?\s*)?""")
_TAKES_PATH = re.compile(r"\b(navigate|prefetch|useLoader|useWebSocket)\(\s*$")
_ELSEWHERE = re.compile(r"""["'][^"'\n]*["']\s*+,\s*+\{[^{}]*?\bpage:\s*+["'`]([^"'`$]*)["'`]""")
_PAGE = re.compile(r"page\s*+(?::|=\s*+\{?)\s*+")
_UNKNOWN_ACTION = re.compile(r"Argument of type '\"([^'\"]+)\"' is not assignable")
_OWNERS = (
    (re.compile(r"\$Data$"), "data"),
    (re.compile(r"\$LayoutData$"), "layoutData"),
    (re.compile(r"\$Params$"), "params"),
    (re.compile(r"\$Message\d+$"), "a message of the WebSocket"),
    (re.compile(r"\$Props$"), "the properties of the page"),
    (re.compile(r"(?:(?:Loose)?Result|Success)<"), "the response of the action"),
    (re.compile(r"\(\(payload|\$Call<|.*& State<"), "the result of useAction()"),
    (re.compile(r"\{ \[x: `[^`]*\$\{string\}`\]: string\[\]"), "the fields of the action"),
    (re.compile(r"State<"), "the state of the form"),
)
"""What types of declarations are called in messages."""

_KINDS = {
    2307: FindingKind.UI,
    DECLARED_TWICE: FindingKind.UI,
    2304: FindingKind.LIKELY,
    2552: FindingKind.LIKELY,
    2693: FindingKind.LIKELY,
    18004: FindingKind.LIKELY,
    **dict.fromkeys(OTHERS_NAMES, FindingKind.LIKELY),
}
"""Codes of the compiler that do not concern types: missing modules and names."""

_OWN_MODULE = re.compile(
    r"""'"((?:\.{1,2}|@)/[^"]+)"' has no (?:exported member(?: named)? '([^']+)')?"""
)
_SHORTHAND = re.compile(
    r"No value exists in scope for the shorthand property '([^']+)'\. "
    r"Either declare one or provide an initializer\."
)
_TWICE = re.compile(r"Cannot redeclare block-scoped variable '([^']+)'")

_CALL = re.compile(r"\(\(payload|\$Call<|State<")
_INDEXED = 7053
_NO_OVERLOAD = 2769
_OPERANDS = frozenset({2362, 2363})
"""Codes: one that is shown by its details, and an operator for numbers behind or before text."""

_LONGEST = 100
"""Characters of a type that a message shows."""


def problem_of(
    found: Diagnostic, half: UiHalf, place: tuple[int, int], offset: int, types: ProjectTypes
) -> Problem:
    """Return a complaint about the half at ``place``; ``offset`` is where that is in its text."""
    action = _action(found, half, offset, types)
    known = _link(found, half, offset, types) or action
    message, remedy = known or _message(found, half, offset, types)
    kind = FindingKind.UI if action or _lacks_export(found) else _KINDS.get(found.code)
    kind = kind or FindingKind.TYPES
    return Problem(half.source, *place, message, remedy, kind=kind)


def _lacks_export(found: Diagnostic) -> re.Match[str] | None:
    """Return what names a file of the project that lacks an export, in code without types.

    In other code what is imported may be a type, which the bundler does not look for.
    """
    is_export = found.code in NO_SUCH_EXPORT and found.path.endswith(".jsx")
    return _OWN_MODULE.search(found.message) if is_export else None


def _message(found: Diagnostic, half: UiHalf, offset: int, types: ProjectTypes) -> tuple[str, str]:
    message = _MODULE.sub("fx/client", _SHORTHAND.sub(r"Cannot find name '\1'.", found.message))
    suggested = _SUGGESTED.search(found.whole)
    member = _NO_MEMBER.search(found.whole if found.code == _INDEXED else found.message)
    if member is not None:
        sender = _sender(member[2], half, types)
        message, remedy = _no_member(member[1], member[2], sender, half, suggested)
        about = member[2], half.types, half.page.ui, offset
        return message, remedy_of_member(member[1], *about) or remedy or remedy_of_owner(*about)
    if found.code in (18047, 18048, 18049, 2531, 2532, 2533):
        return message.rstrip("."), "Check first that it exists, for example with '?.'"
    key = _UNKNOWN_KEY.search(found.message)
    if key is not None:
        cause = f"there is no '{key[1]}' among the keys that it accepts"
        keys = taken_keys(found.message[key.end() :], _with_all(half.types, types))
        return cause, _remedy(suggested) or unknown_key(key[1], keys) or "Leave it out"
    message = _in_words(found, _SUGGESTED.sub("", message).rstrip("."))
    return message, _remedy(suggested) or remedy_of(
        found, _with_all(half.types, types), half.page.ui, offset
    )


def _in_words(found: Diagnostic, message: str) -> str:
    """Return a message of the compiler in words for those who write no types."""
    lacking = _lacks_export(found)
    if lacking is not None and lacking[2]:
        return f"'{lacking[1]}' has no export '{lacking[2]}'"
    twice = _TWICE.match(found.message)
    if twice is not None:
        return f"broken client code: Identifier `{twice[1]}` has already been declared"
    if found.code in _OPERANDS:
        return "text is calculated with as if it were a number"
    if found.code in OTHERS_NAMES:  # the rest is about types of a package
        return message.partition(". ")[0]
    if found.code == _NO_OVERLOAD and found.details:
        return found.details[-1].rstrip(".")
    return message


def _with_all(page: PageTypes, types: ProjectTypes) -> PageTypes:
    """Return a page that knows the classes of all of them, which its components may call."""
    everything = (*types.pages, *types.shared)
    known = {one.name: one for other in everything for one in other.definitions}
    return replace(page, definitions=tuple(known.values()))


def _sender(owner: str, half: UiHalf, types: ProjectTypes) -> PageTypes:
    """Return the file that a type comes from: another page for what its WebSocket sends."""
    message = _MESSAGE.fullmatch(owner)
    if message is not None:
        return types.pages[int(message[1])]
    if half.types.definition_of(owner) is None:
        others = (page for page in types.pages if page.definition_of(owner) is not None)
        return next(others, half.types)
    return half.types


def _no_member(
    name: str, owner: str, page: PageTypes, half: UiHalf, suggested: re.Match[str] | None
) -> tuple[str, str]:
    called = next((named for owners, named in _OWNERS if owners.match(owner)), "")
    definition = page.definition_of(owner)
    shape = definition.shape if definition is not None else None
    keys = _keys(shape)
    if owner == "$Data" or (owner == "{}" and not page.loader):
        keys = _keys(page.definition(page.data))
    is_message = _MESSAGE.fullmatch(owner) is not None
    if is_message:
        parts = parts_of(page.messages) if page.messages is not None else ()
        keys = [key for part in parts for key in _keys(page.definition(part))]
    short = owner if len(owner) <= _LONGEST else f"{owner[: _LONGEST - 1]}…"
    message = f"there is no '{name}' in {called or repr(short)}"
    around = page.socket if is_message else page.loader
    where = _written(definition.place if definition is not None else around, half)
    known = f"It has {', '.join(keys)}{where}" if keys else ""
    others = unknown_key(name, _others(owner, page)) if not keys else ""
    return message, _remedy(suggested) or known or others


def _others(owner: str, page: PageTypes) -> list[str]:
    """Return the keys of a value that is no class of the Python half."""
    if owner == "$Params":
        return [one.name for one in page.params]
    if owner == "$LayoutData":
        return _keys(page.definition(page.layout_data))
    if _CALL.match(owner):
        return ["pending", "data", "error", "fields"]
    if owner.startswith(("Result<", "LooseResult<", "Success<")):
        answered = owner.partition("; result: ")[2].rpartition("; fields: ")[0]
        return ["ok", *written_keys(answered)]
    written = [key for key in written_keys(owner) if key != "__root__"]
    return written or client_keys(owner)


def _keys(shape: object) -> list[str]:
    parts = parts_of(shape) if shape is not None else ()  # type: ignore[arg-type]  # a shape
    return [key.name for part in parts if isinstance(part, ObjectShape) for key in part.keys]


def _written(place: Place | None, half: UiHalf) -> str:
    if place is None:
        return ""
    where = f"line {place.line}" if place.path == half.source else f"{place.path}:{place.line}"
    return f" ({where})"


def _remedy(suggested: re.Match[str] | None) -> str:
    return f"Did you mean '{suggested[1]}'?" if suggested is not None else ""


def _action(
    found: Diagnostic, half: UiHalf, offset: int, types: ProjectTypes
) -> tuple[str, str] | None:
    """Return that an action is not there; None when the complaint is about something else."""
    named = _UNKNOWN_ACTION.match(found.message)
    if named is None or not half.page.ui[:offset].rstrip().endswith("useAction("):
        return None
    if "." in named[1]:
        known = [action.name for module in types.shared for action in module.actions]
        remedy = similar(named[1], known) or "Define it there with @action"
        return f"there is no action '{named[1]}' in the folder 'actions'", remedy
    path = _ELSEWHERE.match(half.page.ui, offset)
    page = page_at(path[1], types) if path is not None else None
    known = [one.name for one in (page or half.types).actions]
    listed = f"It has {', '.join(known)}" if known else "Define it with @action"
    who = path[1] if path is not None and page is not None else "this page"
    return f"{who} has no action '{named[1]}'", similar(named[1], known) or listed


def _link(
    found: Diagnostic, half: UiHalf, offset: int, types: ProjectTypes
) -> tuple[str, str] | None:
    """Return the message about a path; None when the complaint is about something else."""
    text = half.page.ui
    begun = _ATTRIBUTE.match(text, offset)
    at = begun.end() if begun is not None else offset
    if found.code not in (2322, 2345, 2769):
        return None
    begun_form = _SEARCH.search(text[max(offset - 500, 0) : offset])
    leads = text.startswith("action", offset) and begun_form is not None
    called = _TAKES_PATH.search(text[max(offset - 200, 0) : offset])
    around = call_around(text, offset) == "useAction" or text[offset : offset + 5] == "page="
    names_page = _PAGE.match(text, offset) if around else None
    if called is None and not leads and not text.startswith("href", offset) and names_page is None:
        return None
    at = names_page.end() if names_page is not None else at
    literal = _LITERAL.match(text, at)
    named = f"'{literal[1]}'" if literal is not None else "this path"
    routes: Iterable[str] = types.routes
    who = "page"
    if called is not None and called[1] == "useWebSocket":
        routes = [page.pattern for page in types.pages if page.messages is not None]
        who = "page with a WebSocket"
    if names_page is not None:
        routes = [page.pattern for page in types.pages if page.actions and page.pattern]
    near = similar(literal[1], list(routes)) if literal is not None else ""
    return f"no {who} has the path {named}", near or "'fx routes' lists those that exist"
