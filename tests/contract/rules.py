"""The rules of the runtime API, and the tests that bear them.

`rules.toml` gives every line, numbered rule and table row of
`docs/reference/runtime-api.md` an id. A test says with `rule` which ones it shows; a
test with a browser does so too, in `tests/e2e`.
"""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import attrs

FOLDER = Path(__file__).parent
REPOSITORY = FOLDER.parents[1]
REFERENCE = REPOSITORY / "docs/reference/runtime-api.md"
BROWSER_TESTS = REPOSITORY / "tests/e2e/test_contract_client.py"

MOST_AT_ONCE = 3
"""Rules that one test may show: those that can only be seen together."""

_BLOCK = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_TABLE_HEAD = re.compile(r"^\|.*\|\n\|[-|]+\|$", re.MULTILINE)
_ITEM = re.compile(r"^\s*(?:\d+\.|-)?\s+")
_SENTENCES = re.compile(r"(?<=[.]) (?=[A-Z])")

Test = TypeVar("Test", bound=Callable[..., Any])


def rule(*ids: str) -> Callable[[Test], Test]:
    """Say that a test shows the rules with these ids. Raises ValueError for unknown ones."""
    unknown = [each for each in ids if each not in read_rules()]
    if unknown or not 1 <= len(ids) <= MOST_AT_ONCE:
        raise ValueError(f"rule{ids}: give one to {MOST_AT_ONCE} ids of rules.toml")
    return lambda test: test


@attrs.frozen
class Covering:
    """A test, and the rules it shows."""

    name: str
    """``tests/contract/test_loader.py::test_loader_2_…``."""

    ids: tuple[str, ...]


@cache
def read_rules(path: Path = FOLDER / "rules.toml") -> dict[str, str]:
    """Return the text of every rule by its id, in the order of the reference."""
    tables = tomllib.loads(path.read_text(encoding="utf-8"))
    del tables["remarks"]
    return dict(_flatten(tables, ""))


def read_remarks() -> list[str]:
    """Return the sentences of the reference that say nothing a test could show."""
    tables = tomllib.loads((FOLDER / "rules.toml").read_text(encoding="utf-8"))
    return [str(text) for text in tables["remarks"]["texts"]]


def _flatten(table: dict[str, Any], prefix: str) -> Iterator[tuple[str, str]]:
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _flatten(value, f"{prefix}{key}.")
        else:
            yield prefix + key, value


def read_statements() -> list[str]:
    """Return every sentence and table row of the reference.

    A row that holds several sentences is as many statements, the first one with its
    other cells.
    """
    text = _BLOCK.sub("", REFERENCE.read_text(encoding="utf-8"))
    lines = _TABLE_HEAD.sub("", text).splitlines()
    prose = [line for line in lines if line.strip() and not line.startswith("#")]
    return [sentence for line in prose for sentence in _SENTENCES.split(_plain(line))]


def _plain(line: str) -> str:
    """Return a line without the marks of lists and the outer bars of rows."""
    if line.startswith("|"):
        return line.strip("|").strip()
    return _ITEM.sub("", line) if _ITEM.match(line) else line


def find_tests() -> list[Covering]:
    """Return the tests that bear rules, read from their source."""
    files = [*sorted(FOLDER.glob("test_*.py")), BROWSER_TESTS]
    return [found for file in files for found in _tests_in(file)]


def _tests_in(path: Path) -> Iterator[Covering]:
    place = path.relative_to(REPOSITORY).as_posix()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        ids = tuple(each for decorator in node.decorator_list for each in _ids_of(decorator))
        if ids:
            yield Covering(f"{place}::{node.name}", ids)


def _ids_of(decorator: ast.expr) -> tuple[str, ...]:
    """Return the ids that a decorator names, if it is ``@rule(…)``."""
    if not (isinstance(decorator, ast.Call) and isinstance(decorator.func, ast.Name)):
        return ()
    if decorator.func.id != "rule":
        return ()
    return tuple(str(ast.literal_eval(argument)) for argument in decorator.args)


def by_rule(rules: dict[str, str], tests: list[Covering]) -> dict[str, list[str]]:
    """Return the names of the tests of each rule."""
    return {each: [test.name for test in tests if each in test.ids] for each in rules}


def prefix_of(rule_id: str) -> str:
    """Return how the name of a test of this rule begins."""
    return "test_" + re.sub(r"[.-]", "_", rule_id)
