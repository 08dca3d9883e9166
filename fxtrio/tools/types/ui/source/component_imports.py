"""What a module of the client imports from files of the project, and what it exports. Pure."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator, Mapping

import attrs

_FILE = r"""['"](?P<file>(?:\.{1,2}|@)/[^'"\n]*+)['"]"""
_IMPORT = re.compile(rf"""\bimport\b(?P<names>[^'"();]{{1,500}}+){_FILE}""")
_USED = re.compile(rf"""\b(?:import\(\s*+|export\b[^'"();]{{1,500}}+){_FILE}""")
_NAMED = re.compile(r"\{([^{}]*+)\}")
_WORD = re.compile(r"[\w$]++")
_AS_DEFAULT = re.compile(
    r"\bexport\s++default\s++(?:(?:React\.)?memo\(\s*+)?(?P<name>[A-Za-z_$][\w$]*+)\s*+\)?\s*+;"
)
_LIST = re.compile(r"\bexport\s*+\{(?P<names>[^{}]*+)\}\s*+;")
_DECLARED = re.compile(
    r"\bexport\s++(?P<default>default\s++)?(?=(?:async\s++)?(?:function|const)\b\s*+"
    r"(?:function\b\s*+)?(?P<name>[A-Za-z_$][\w$]*+)?)"
)
_SUFFIXES = ("", ".js", ".ts", ".jsx", ".tsx", *(f"/index{one}" for one in (".ts", ".jsx", ".tsx")))
"""In the order in which the bundler tries them."""


@attrs.frozen
class ImportedFile:
    """A file that a module imports."""

    file: str
    """As it is written: ``./row``, ``@/components/row``."""

    names: Mapping[str, str] | None
    """What is imported, by the name that it has here; None when that cannot be seen."""


def imported_files(text: str) -> Iterator[ImportedFile]:
    """Yield the files of the project that a module imports."""
    for found in _IMPORT.finditer(text):
        yield ImportedFile(found["file"], _imported(found["names"]))
    for found in _USED.finditer(text):
        yield ImportedFile(found["file"], None)


def _imported(text: str) -> Mapping[str, str] | None:
    clause = text.rpartition("from")[0] if text.rstrip().endswith("from") else text
    if "*" in clause:
        return None
    names = {}
    listed = _NAMED.search(clause)
    for one in listed[1].split(",") if listed is not None else ():
        words = _WORD.findall(one.replace("type ", " "))
        if words:
            names[words[-1]] = words[0]
    default = _WORD.findall(_NAMED.sub(" ", clause))
    if len(default) == 1 and default[0] != "type":
        names[default[0]] = "default"
    return names


def source_of(folder: str, file: str, exists: Callable[[str], bool]) -> str:
    """Return the file that one in ``folder`` names, relative to the project folder; "" for none."""
    if file.startswith("@/"):
        path = posixpath.normpath(file[2:])
    else:
        path = posixpath.normpath(posixpath.join(folder, file))
    if path.startswith(".."):
        return ""
    return next((path + one for one in _SUFFIXES if exists(path + one)), "")


def exported_names(text: str) -> dict[str, str]:
    """Return what a module exports, by its names outside; "" for what has none inside."""
    found = {}
    for one in _DECLARED.finditer(text):
        name = one["name"] or ""
        found["default" if one["default"] else name] = name
    for one in _AS_DEFAULT.finditer(text):
        found["default"] = one["name"]
    for one in _LIST.finditer(text):
        for part in one["names"].split(","):
            words = _WORD.findall(part)
            if words:
                found[words[-1]] = words[0]
    return found


def without_exports(text: str) -> str:
    """Return a text of the same length in which declarations begin lines and are not exported."""
    for pattern in (_DECLARED, _AS_DEFAULT, _LIST):
        text = pattern.sub(lambda found: "\n" * len(found[0]), text)
    return text


def without_imports(text: str) -> str:
    """Return a text of the same length without its imports of the project's files."""
    return _IMPORT.sub(lambda found: " " * len(found[0]), text)
