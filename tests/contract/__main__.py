"""`python -m tests.contract`: every rule with the tests that show it; exit code 1 on a gap.

With ``--write`` the table of rules and tests in `README.md` beside this file is written, too.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from itertools import groupby

from tests.contract.rules import FOLDER, REPOSITORY, Covering, by_rule, find_tests, read_rules

README = FOLDER / "README.md"

_HEAD = """\
# The contract and its tests

Every sentence and row of [the runtime API](../../docs/reference/runtime-api.md), and its tests.
`python -m tests.contract --write` makes this page from the `@rule` marks of the tests.
A rule without a test fails them.
"""


def report(rules: dict[str, str], found: dict[str, list[str]]) -> tuple[str, int]:
    """Return what is printed, and the exit code."""
    lines = []
    for each, text in rules.items():
        lines.append(f"{each}: {text}")
        lines += [f"    {name}" for name in found[each] or ["NO TEST"]]
    gaps = [each for each in rules if not found[each]]
    lines.append(f"{len(rules)} rules, {len(gaps)} without a test{': ' if gaps else ''}")
    return "\n".join(lines) + ", ".join(gaps), 1 if gaps else 0


def render_readme(rules: dict[str, str], tests: list[Covering]) -> str:
    """Return the page: one table for each section of the rules."""
    found = by_rule(rules, tests)
    parts = [_HEAD]
    for section, ids in groupby(rules, lambda each: each.partition(".")[0]):
        parts.append(f"\n## {section}\n\n| Rule | Statement | Tests |\n|---|---|---|\n")
        parts += [_row(each, rules[each], found[each]) for each in ids]
    return "".join(parts)


def _row(rule_id: str, text: str, names: list[str]) -> str:
    statement = text.replace("|", "\\|")
    return f"| {rule_id} | {statement} | {'<br>'.join(_links(names)) or '**none**'} |\n"


def _links(names: list[str]) -> Iterator[str]:
    for name in names:
        path, _, function = name.partition("::")
        target = os.path.relpath(REPOSITORY / path, FOLDER)
        yield f"[{function}]({target})"


if __name__ == "__main__":
    rules, tests = read_rules(), find_tests()
    text, code = report(rules, by_rule(rules, tests))
    sys.stdout.write(text + "\n")
    if "--write" in sys.argv[1:]:
        README.write_text(render_readme(rules, tests), encoding="utf-8")
    sys.exit(code)
