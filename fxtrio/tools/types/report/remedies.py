"""What to do about a complaint of the compiler: by what stands in Python, if that is known.

Pure, but for the declarations of the client. Called by `diagnostic_messages` for complaints
that it has no message for.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache

from fxtrio.compile.bundling.installation import JS
from fxtrio.tools.types.gather.page_types import PageTypes
from fxtrio.tools.types.python.shapes import (
    Constant,
    ObjectShape,
    Plain,
    Shape,
    parts_of,
    walk,
)
from fxtrio.tools.types.report.compiler import Diagnostic
from fxtrio.tools.types.report.javascript_leniency import (
    DECLARED_TWICE,
    OTHERS_NAMES,
    call_around,
)
from fxtrio.tools.types.ui.source.form_fields import similar

_CONVERTED = {
    "decimal": "a Decimal is text here: Number(%s)",
    "date-time": "a datetime is text here: new Date(%s)",
    "date": "a date is text here: new Date(%s)",
    "time": "a time is text here, such as 12:30:00",
    "duration": "a timedelta is text here, such as PT90S: send its total_seconds()",
    "uuid": "a UUID is text here, such as 123e4567-e89b-12d3-a456-426614174000",
    "byte": "bytes are text here, in base64: atob(%s)",
}
"""Formats of text, and how a value of each is used."""

_DATES = re.compile(r"(?:get|set|to)(?:UTC|Locale)?(?:Time|Date|Day|Month|FullYear|Hours|Minutes)")
_OF_DATES = frozenset({"toISOString", "toLocaleDateString", "toLocaleTimeString", "toDateString"})
_OF_NUMBERS = frozenset({"toFixed", "toPrecision", "toExponential"})
_OF_SETS = frozenset({"has", "size", "add", "delete", "union", "intersection"})
_OF_LISTS = frozenset({"map", "filter", "forEach", "reduce", "some", "every", "find", "join"})
_OF_ENUMS = frozenset({"value", "name"})

_ASSIGNED = re.compile(
    r"(?:Type|Argument of type) '([^']++)' is not assignable to (?:parameter of )?type '([^']++)'"
)
_MISSING = re.compile(r"Property '([^']+)' is missing in type")
_COMPARED = re.compile(r"because the types '([^']++)' and '([^']++)' have no overlap")
_TUPLE = re.compile(r"Tuple type '[^']*+' of length '(\d+)'")
_PATH = re.compile(r"[\w$]++(?>(?:\??\.[\w$]++)*)")
_VALUE_START = re.compile(r"[\w$-]++(?:=\{|:\s?)")
_PATH_CHARS = "_$.?[]"
_INPUT = re.compile(r"(?:payload: )?\b([A-Za-z_]\w*Input\d*)\b")
_TEXTS = re.compile(r'"[^"]*"(?: \| "[^"]*")*')
_INTERFACE = re.compile(
    r"^export interface (\w++)(?>(?:<[^>\n]*+>)?)(?>(?: extends (\w++))?)[^{\n]*+\{\n"
    r"((?>(?:(?: [^\n]*+)?+\n)*))\}",
    re.MULTILINE,
)
_SUM = re.compile(r"(?<![\w$.?])[\w$.?]++(?>(?:\s*+\+\s*+([\w$.?]++))+)")
_NO_SUCH_NAME = OTHERS_NAMES | {2304, 18004}
_NO_SUCH_MODULE = 2307
_INCOMPARABLE = re.compile(r"is not comparable to type '((?>(?:\"[^\"]*\"|[ |])+))'")
_NOT_ITERATED = re.compile(r"Type '([^']++)' (?:must have a '\[Symbol|is not an array type)")
_PROPS = "data, layoutData, params, actionData"
_BASIC = frozenset({"string", "number", "boolean"})
_NOT_CALLED = 2349
_NO_OVERLOAD = 2769
NO_SUCH_EXPORT = frozenset({1192, 2305, 2613, 2614, 2724})
"""Codes: a module lacks what is imported from it."""

_KEY = re.compile(r"^  (\w+)\??[:(]", re.MULTILINE)
_OWNED = re.compile(r"[{;] ([A-Za-z_$][\w$]*)\??: ")


def remedy_of(found: Diagnostic, page: PageTypes, text: str, offset: int) -> str:
    """Return what to do about a value that does not fit, at ``offset`` of a half."""
    last = found.details[-1] if found.details else found.message
    if found.code in _NO_SUCH_NAME:
        return "Define or import it"
    if found.code == _NO_SUCH_MODULE:
        return "Write the path of a file, or install the package"
    if found.code == DECLARED_TWICE:
        return "Give one of the two another name"
    incomparable = _INCOMPARABLE.search(found.message)
    if incomparable is not None:
        return f"It is {_listed(incomparable[1].split(' | '))}"
    if found.code in NO_SUCH_EXPORT:
        return "Import a name that the module exports"
    missing = _MISSING.search(found.whole)
    if missing is not None:
        return f"Give it '{missing[1]}'"
    compared = _COMPARED.search(found.message)
    if compared is not None:
        return _other_comparison(compared[1], compared[2], page, text, offset)
    if found.code in (2362, 2363, 2365):
        return converted(_path_at(text, offset), page) or "Make it a number: Number(…)"
    if "type 'Set<" in found.message:
        return "A set is a list here: new Set(…)"
    if found.code == _NOT_CALLED and _name_at(text, offset) in _OF_LISTS:
        return f"It is an object: Object.values({_path_before(text, offset)}) lists its values"
    if found.code == _NOT_CALLED:
        return "It is not a function: leave out the call"
    iterated = _NOT_ITERATED.match(found.message)
    if iterated is not None:
        return f"It is {_words(iterated[1])}, not a list"
    if text[:offset].rstrip().endswith("JSON.parse("):
        return "It has been parsed already: use it as it is"
    if found.code == _NO_OVERLOAD and last == "Type 'string' is not assignable to type 'number'.":
        return converted(_last_path(text, offset), page) or "Make it a number: Number(…)"
    length = _TUPLE.match(found.message)
    if length is not None:
        return f"It has {length[1]} values, and the first is [0]"
    if found.code in (2554, 2555):
        taken = taken_keys(call_around(text, offset + 1) or _path_at(text, offset), page)
        return f"Pass an object with {', '.join(taken or ['what the action reads'])}"
    assigned = _ASSIGNED.match(last) or _ASSIGNED.match(found.message)
    if assigned is None:
        return "Pass a value of the expected type"
    return _other_value(assigned[1], assigned[2], page, text, offset)


def _other_value(actual: str, wanted: str, page: PageTypes, text: str, offset: int) -> str:
    kinds = [one for one in wanted.split(" | ") if one != "undefined"]
    literals = [one for kind in kinds for one in _literals(kind, page)]
    if literals and len(literals) >= len(kinds):
        return f"It takes {_listed(literals)}"
    if "null" in actual.split(" | ") or actual == "undefined":
        return "Check first that it exists, for example with '??'"
    if wanted == "ReactNode":
        return "An object cannot be rendered: use one of its keys"
    path = _value_at(text, offset)
    if "number" in kinds and actual == "string":
        return converted(path, page) or "Make it a number: Number(…)"
    if "string" in kinds and actual in ("number", "boolean"):
        return "Make it text: String(…)"
    if wanted.startswith(("Date", "Temporal")):
        return converted(path, page) or "Make it a date: new Date(…)"
    inputs = _INPUT.search(wanted)
    if inputs is not None:
        keys = _keys(page, inputs[1])
        return f"Pass an object with {', '.join(keys)}" if keys else f"It takes {inputs[1]}"
    return f"It takes {_words(wanted)}"


def _other_comparison(one: str, other: str, page: PageTypes, text: str, offset: int) -> str:
    for known in (one, other):
        if _TEXTS.fullmatch(known) and (known == one or not _TEXTS.fullmatch(one)):
            return f"It is {_listed(known.split(' | '))}"
    if {one, other} == {"string", "number"}:
        path = _path_at(text, offset)
        is_text = one == "string"
        return (converted(path, page) if is_text else "") or "Compare values of the same type"
    return "Compare values of the same type"


def remedy_of_member(name: str, owner: str, page: PageTypes, text: str, offset: int) -> str:
    """Return what to do about a key or method that ``owner`` does not have."""
    path = _path_before(text, offset)
    if owner == "string":
        own = converted(path, page)
        if own:
            return own
        if name in _OF_DATES or _DATES.match(name):
            return f"It is text, as dates are here: new Date({path or '…'})"
        if name in _OF_NUMBERS:
            return f"It is text, as Decimals are here: Number({path or '…'})"
        return "It is text: split it first" if name in _OF_LISTS else "It is text"
    if _TEXTS.fullmatch(owner) and name in _OF_ENUMS:
        return f"An Enum is its value here: leave out '.{name}'"
    if owner.endswith("[]"):
        hint = {"has": "includes", "size": "length"}.get(name, "")
        is_set = name in _OF_SETS
        advice = f"write .{hint}" if hint else "new Set(…) creates one"
        if is_set:
            return f"A set is a list here: {advice}"
        return "It is a list: take one of its values"
    if owner == "URLSearchParams":
        return f"Write {path}.get('{name}')"
    if owner.startswith("["):
        return "A tuple or NamedTuple is a list here: take its values by [0], [1]"
    return ""


def remedy_of_owner(owner: str, page: PageTypes, text: str, offset: int) -> str:
    """Return what to do about a key that ``owner`` does not have, which has no keys to be named."""
    parts = owner.split(" | ")
    if owner == "$Params":
        return f"The path {page.pattern} has no parameters"
    if owner == "$Props":
        return f"It has {_PROPS}"
    if owner in ("$Data", "{}"):
        return "Return it from the loader" if page.loader else "Write a loader that returns it"
    if owner in ("number", "boolean"):
        return f"It is {_words(owner)}"
    if owner.startswith("Promise<"):
        return "It is deferred: show it with <Await>"
    if {*parts} <= _BASIC:
        return f"Check its type first: typeof {_path_before(text, offset) or '…'}"
    if {"null", "undefined"} & {*parts}:
        return "Check first that it exists, for example with '??'"
    keys = [key for one in parts for key in _keys(page, one)]
    return f"It has {', '.join(dict.fromkeys(keys))}" if keys else "Leave it out"


def converted(path: str, page: PageTypes) -> str:
    """Return how the text of a key is used that is none in Python; "" for another key."""
    name = re.split(r"[.\[]", path)[-1].strip("?]")
    formats = {
        part.format
        for shape in (page.data, page.layout_data, *(one.shape for one in page.definitions))
        for _, inner in walk(shape)
        for key in (inner.keys if isinstance(inner, ObjectShape) else ())
        if key.name == name
        for part in parts_of(key.shape)
        if isinstance(part, Plain) and part.kind == "string"
    }
    known = _CONVERTED.get(next(iter(formats)), "") if len(formats) == 1 else ""
    text = known.replace("%s", path.replace("?", ""))
    return text[:1].upper() + text[1:] if text else ""


def unknown_key(name: str, keys: Sequence[str]) -> str:
    """Return the likely meaning of a missing key; "" when the other keys are not known."""
    return similar(name, keys) or (f"It has {', '.join(keys)}" if keys else "")


def taken_keys(message: str, page: PageTypes) -> list[str]:
    """Return the keys of the body that a type of the declarations, or an action, names."""
    action = page.action(message)
    if action is not None:
        return list(action.controls)
    named = _INPUT.search(message)
    return _keys(page, named[1]) if named is not None else []


def written_keys(owner: str) -> list[str]:
    """Return the keys of an object's type that is written out: ``{ id: number; }``."""
    if not (owner.startswith("{") and owner.endswith("}")):
        return []
    top_level, depth = [], 0
    for char in owner:
        depth += (char in "{[(<") - (char in "}])>")
        top_level.append(char if depth == 1 else "")
    return list(dict.fromkeys(_OWNED.findall("".join(top_level))))


def client_keys(owner: str) -> list[str]:
    """Return the keys of a type of `fx/client`, such as ``StreamState<any>``; none of others."""
    return list(_client_types().get(owner.partition("<")[0], ()))


@cache
def _client_types() -> Mapping[str, Sequence[str]]:
    text = (JS / "client" / "index.d.ts").read_text("utf-8")
    found: dict[str, list[str]] = {}
    for name, base, body in _INTERFACE.findall(text):
        found[name] = [*found.get(base, ()), *_KEY.findall(body)]
    return found


def _keys(page: PageTypes, name: str) -> list[str]:
    definition = page.definition_of(name)
    shape = definition.shape if definition is not None else None
    return [key.name for key in shape.keys] if isinstance(shape, ObjectShape) else []


def _literals(kind: str, page: PageTypes) -> list[str]:
    if kind.startswith('"'):
        return [kind]
    definition = page.definition_of(kind)
    parts: tuple[Shape, ...] = parts_of(definition.shape) if definition is not None else ()
    found = [f'"{one.value}"' for one in parts if isinstance(one, Constant)]
    return found if len(found) == len(parts) else []


def _listed(texts: Iterable[str]) -> str:
    known = sorted(dict.fromkeys(texts))
    return " or ".join([", ".join(known[:-1]), known[-1]] if len(known) > 1 else known)


def _words(kind: str) -> str:
    return {"string": "text", "number": "a number", "boolean": "true or false"}.get(kind, kind)


def _path_at(text: str, offset: int) -> str:
    found = _PATH.match(text, offset)
    return found[0] if found is not None else ""


def _name_at(text: str, offset: int) -> str:
    return _path_at(text, offset).partition(".")[0]


def _last_path(text: str, offset: int) -> str:
    """Return the last value that is added in the sum at ``offset``."""
    added = _SUM.match(text, offset)
    return added[1] if added is not None else ""


def _path_before(text: str, offset: int) -> str:
    """Return the path in front of the dot at the end of ``text[:offset]``."""
    end = offset
    while end and text[end - 1] in "?.":
        end -= 1
    start = end
    while start and (text[start - 1].isalnum() or text[start - 1] in _PATH_CHARS):
        start -= 1
    return text[start:end] if end < offset else ""


def _value_at(text: str, offset: int) -> str:
    """Return the path of the value of an attribute or key at ``offset``; else the path there."""
    begun = _VALUE_START.match(text, offset)
    return _path_at(text, begun.end() if begun is not None else offset)
