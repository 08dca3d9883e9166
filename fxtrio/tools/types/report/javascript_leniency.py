"""Which complaints about a half without types are reported: those that a user would call mistakes.

A complaint concerns the types of the Python half when it disappears once nothing is known of
them: the caller compiles twice and compares. The rest is judged here, by its code and
by the text around. Plain JavaScript converts numbers to text and back, sets attributes to null,
and gives variables new types: none of that is reported.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

import attrs

from fxtrio.tools.types.report.compiler import Diagnostic

DECLARED_TWICE = 2451
OTHERS_NAMES = frozenset({2581, 2582, 2592, 2593, 2867, 2868})
"""Undefined names that jQuery, test runners and Bun define, such as `$` and `describe`."""

NAMES = OTHERS_NAMES | {
    *(2304, 2305, 2307, 2503, 2552, 2614, 2724, 2613, 1192, 2459, 2460, 18004, DECLARED_TWICE)
}
"""Undefined names, those declared twice and missing imports, which are always reported."""

_TYPED = range(8000, 8100)
"""Types in a JavaScript file: so it is none."""

_SYNTAX = range(1000, 2000)
"""Halves have been parsed before, as TypeScript."""

_BROKEN = frozenset(
    {
        *(1002, 1003, 1005, 1007, 1009, 1010, 1109, 1110, 1121, 1185, 1198, 1199, 1351, 1353, 1357),
        *range(1124, 1147),
        *(1160, 1161, 1178, 1179, 1180, 1381, 1382, 1389, 1390, 1472, 1473, 1477, 1498),
        *range(1434, 1444),
        *(17002, 17008, 17014, 17015),
    }
)
"""What the parser says. As long as it says something, nobody has looked at types."""

_MISREAD = frozenset({*_SYNTAX, 2362, 2363, 2365, 2693, 18042})
"""What ``useState<string>("")`` is as JavaScript: two comparisons."""

_TYPE_ARGUMENTS = re.compile(r"[\w$]<(?![\s=])[^;<]*>\(")

_MEMBERS = frozenset({2339, 2551, 2550, 2568})
_NOTHING = frozenset({18047, 18048, 18049, 2531, 2532, 2533})
_USES = frozenset({2349, 2348, 2488, 2461, 2495, 2569, 2548, 2721, 2722, 2723, 2538, 2493, 2678})
INDEXED = 7053
"""A key is read that the object does not have."""

NEVER_REPORTED = frozenset({7006, 7031})
"""Parameters without types, wherever they stand."""

_ARGUMENTS = 2554
"""Too few of them, or too many."""

_COMPARED = 2367
_NUMBERS = frozenset({2362, 2363, 2365})
_OF_VALUES = frozenset({2322, 2345, 2353, 2561, 2741, 2739, 2740, 2559, 2769, 2554, 2555, 2820})

_LACKS_KEY = frozenset({2739, 2740, 2741})
_CALLS = re.compile(r"\b(?:const|let|var)\s+(\w+)\s*=\s*useAction\(")
_CALL_OF = re.compile(r"\b(?:const|let|var)\s+(\w+)\s*=\s*useAction\(\s*$")
_IMPORTS = re.compile(r"\bimport\b([^'\"();]{1,500}+)['\"](\.|@/|)")
_NAMES = re.compile(r"[\w$]++")
_SEARCHES = re.compile(r"\.(?:includes|indexOf|lastIndexOf|has)\(\s*$")
_CHECKED_NAMES = ("href", "action", "page")
_TEXT_CALLS = frozenset({"navigate", "prefetch", "useAction", "useLoader"})
_ASSIGNED = re.compile(r"[\w$]++\s*+=(?![=>])")
_ATTRIBUTE = re.compile(r"[\w-]++\s*+=\s*+[\"'{]")
_CHILD = re.compile(r"Type '([^'|]+?)(?: \| null)?' is not assignable to type 'ReactNode'")
_MISSING = re.compile(r"Property '([^']+)' does not exist on type '(.+)'\.")
_INDEX = re.compile(r"expression of type '\"[^\"|]*\"'")
_TEXT = re.compile(
    r"(?:Type|Argument of type) 'string' is not assignable"
    r" to (?:parameter of )?type '((?:[^'\\]|\\.)+)'"
)
_TEXT_FOR_NUMBER = "Type 'string' is not assignable to type 'number'."
_NOT_TEXT = re.compile(r"Argument of type '(.+)' is not assignable to parameter of type 'string'")
_INDEXED_USE = re.compile(r"(?<![\w$.\]])([\w$.]++\[[\w$.]++\])\.")
_LITERAL = r'(?:"[^"]*"|undefined|null)'
_LITERALS = re.compile(rf'(?=.*"){_LITERAL}(?: \| {_LITERAL})*')
_POSSIBLY = re.compile(r"'([^']+)' is possibly")
_MAYBE = re.compile(
    r"(?:Type|Argument of type) '(?:[^'|]++ \| )?(?:null|undefined)' is not assignable"
)
_VALUE = re.compile(
    r"(?<![\w$.-])(?:[\w$-]++(?:=\{|:\s?))?([A-Za-z_$][\w$]*+(?>(?:\.[\w$]++)*))(?![\w$.(\[?])"
)
_WORD = re.compile(r"[\w$.?\[\]]+")
_LONGEST_NAME = 1000  # characters, with the blanks behind it


def typescript_among(found: Iterable[tuple[Diagnostic, str]]) -> list[bool]:
    """Return which complaints about JavaScript files say that the file is TypeScript.

    Each comes with its line. As long as there are some, nobody has looked at anything else.
    """
    listed = list(found)
    only_syntax = all(one.code in _SYNTAX or one.code in _TYPED for one, _ in listed)
    return [
        one.code in _TYPED
        or (only_syntax and one.code in _SYNTAX)
        or (one.code in _MISREAD and _TYPE_ARGUMENTS.search(line) is not None)
        for one, line in listed
    ]


def says_broken(found: Diagnostic) -> bool:
    """Whether a complaint says that a file does not parse."""
    return found.code in _BROKEN


def is_certain(found: Diagnostic) -> bool:
    """Whether a complaint is always reported: an undefined name.

    A property that a component does not name has no effect; it is reported when it looks like one
    that the component does name.
    """
    if found.code in NAMES:
        return True
    is_property = "does not exist on type 'IntrinsicAttributes &" in found.whole
    return found.code == 2322 and is_property and "Did you mean" in found.whole


@attrs.frozen
class KnownNames:
    """Names in the types of a half."""

    texts: frozenset[str]
    """Keys that hold text, and never a number: a Decimal is one, JavaScript calculates with it."""

    classes: Mapping[str, frozenset[str]]
    """What objects and unions of them are called, with their keys."""

    unions: frozenset[str] = frozenset()
    """Those of them that are unions."""

    def is_key_of_some(self, message: str) -> bool:
        """Whether to report a key that only some objects of a union have."""
        missing = _MISSING.match(message)
        if missing is None:
            return False
        name, owner = missing[1], missing[2]
        names = owner.split(" | ")
        if (len(names) == 1 and owner not in self.unions) or {"null", "undefined"} & {*names}:
            return False
        keys = (f" {name}: ", f" {name}?: ")
        written = owner.startswith("{") and any(key in owner for key in keys)
        return written or any(name in self.classes.get(one, ()) for one in names)


def is_reported(found: Diagnostic, text: str, offset: int, known: KnownNames) -> bool:
    """Whether to report a complaint at ``offset`` of ``text`` that concerns known types."""
    if found.code in _MEMBERS and _ASSIGNED.match(text, offset):
        return False  # a key that is added to an object
    if found.code in _MEMBERS and known.is_key_of_some(found.message):
        return False  # ``if (payment.last4)`` is how JavaScript tells objects apart
    if found.code == INDEXED:
        return _INDEX.search(found.message) is not None or _is_used_unchecked(text, offset)
    if found.code in _MEMBERS or found.code in _NOTHING or found.code in _USES:
        return True
    if found.code == _COMPARED:
        return _is_exact(text, offset)
    if found.code in _NUMBERS:
        word = _WORD.match(text, offset)
        return word is not None and word.group().rpartition(".")[2] in known.texts
    if found.code not in _OF_VALUES or _is_text_for_literal(found):
        return False
    if _is_no_child(found, known) or _is_for_framework(found, text, offset):
        return True
    return _is_text_in_sum(found, text, offset) or _is_parsed(found, text, offset)


def _is_text_in_sum(found: Diagnostic, text: str, offset: int) -> bool:
    """Whether a ``reduce`` that begins with a number puts text behind it."""
    last = found.details[-1] if found.details else found.message
    return last == _TEXT_FOR_NUMBER and call_around(text, offset) == "reduce"


def _is_parsed(found: Diagnostic, text: str, offset: int) -> bool:
    """Whether ``JSON.parse`` gets what has been parsed."""
    mismatch = _NOT_TEXT.match(found.message)
    is_object = mismatch is not None and mismatch[1] not in (
        "number",
        "boolean",
        "null",
        "undefined",
    )
    return is_object and text[:offset].rstrip().endswith("JSON.parse(")


def _is_used_unchecked(text: str, offset: int) -> bool:
    """Whether a value that may not be there is used at once: ``COLORS[level].dark``."""
    indexed = _INDEXED_USE.match(text, offset)
    return indexed is not None and text.count(indexed[1]) == 1


def _is_no_child(found: Diagnostic, known: KnownNames) -> bool:
    """Whether an object of the Python half stands where React renders text only."""
    child = _CHILD.match(found.message)
    if child is None:
        return False
    return child[1].startswith("{") or child[1].rstrip("[]") in known.classes


def checked_path(found: Diagnostic, text: str, offset: int) -> str:
    """Return the path that a complaint at ``offset`` calls possibly null; "" for other ones."""
    path = _POSSIBLY.match(found.message) if found.code in _NOTHING else None
    if path is not None:
        return path[1]
    last = found.details[-1] if found.details else found.message
    mismatch = _MAYBE.match(last) if found.code in (2322, 2345) else None
    value = _VALUE.match(text, offset) if mismatch is not None else None
    return value[1] if value is not None else ""


def _is_text_for_literal(found: Diagnostic) -> bool:
    """Whether any text is passed for a union of texts: without types it is not known which."""
    last = (found.details or (found.message,))[-1]
    text = _TEXT.match(last)
    return text is not None and _LITERALS.fullmatch(text[1]) is not None


def _is_exact(text: str, offset: int) -> bool:
    """Whether two values are compared without conversion."""
    line = text[offset : text.find("\n", offset)]
    return "===" in line or "!==" in line


def _is_for_framework(found: Diagnostic, text: str, offset: int) -> bool:
    """Whether the value goes to the framework, or cannot be rendered at all."""
    if _ATTRIBUTE.match(text, offset) or text[offset - 1 : offset] == "<":
        name = text[offset:].partition("=")[0].strip()
        tag = _tag_around(text, offset)
        if tag in ("Link", "Form"):
            return name in _CHECKED_NAMES
        lacks_key = found.code in _LACKS_KEY and text[offset - 1 : offset] != "<"
        return (found.code == 2322 or lacks_key) and _is_own_component(text, tag)
    called = call_around(text, offset)
    if called == "useWebSocket" and text[:offset].rstrip().endswith("("):
        return True
    if called in _TEXT_CALLS or called in _CALLS.findall(text):
        return True
    if "URLSearchParams" in found.message or "$Slots" in found.whole:
        return True
    if found.code == _ARGUMENTS:
        word = _WORD.match(text, offset)
        return word is not None and word.group() in _CALLS.findall(text)
    return bool(_SEARCHES.search(text[:offset])) or _is_slot(text, offset)


def _is_own_component(text: str, tag: str) -> bool:
    """Whether a component is of the project: if it has types, they are meant."""
    if not tag[:1].isupper() or "." in tag:
        return False
    imported = [one for one in _IMPORTS.finditer(text) if tag in _NAMES.findall(one[1])]
    return not imported or imported[0][2] in (".", "@/")


def _is_slot(text: str, offset: int) -> bool:
    start = text.rfind("export", 0, offset)
    return bool(re.match(r"export\s+(?:const|let|var)\s+slots\b[^;]*$", text[start:offset]))


def _tag_around(text: str, offset: int) -> str:
    """Return the name of the tag that an attribute stands in."""
    start = text.rfind("<", 0, offset)
    found = re.compile(r"<\s*([\w.]+)").match(text, start) if start >= 0 else None
    return found[1] if found else ""


def _last_word(text: str) -> str:
    """Return the name that ``text`` ends with, or ""."""
    start = len(text)
    while start and (text[start - 1].isalnum() or text[start - 1] in "_$"):
        start -= 1
    return text[start:]


def call_of_action(text: str, offset: int) -> str:
    """Return the constant that ``useAction("name")`` is assigned to, by the offset of the name."""
    called = _CALL_OF.search(text, 0, offset)
    return called[1] if called is not None else ""


def called_at(found: Diagnostic, text: str, offset: int) -> str:
    """Return the name of the function that a complaint about an argument is about."""
    word = _NAMES.match(text, offset) if found.code == _ARGUMENTS else None
    return word[0] if word is not None else call_around(text, offset)


def call_around(text: str, offset: int) -> str:
    """Return the name of the function whose innermost call is around; "" without one."""
    depth = 0
    for index in range(offset - 1, max(offset - 2000, -1), -1):
        char = text[index]
        if char in ")]":
            depth += 1
        elif char == "[":
            depth -= depth > 0  # a list that the place stands in
        elif char == "(":
            if depth == 0:
                return _last_word(text[max(0, index - _LONGEST_NAME) : index].rstrip())
            depth -= 1
    return ""
