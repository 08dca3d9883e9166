"""`python -m tests.contract`: every rule with the tests that show it; exit code 1 on a gap."""

from __future__ import annotations

import sys

from tests.contract.rules import by_rule, find_tests, read_rules


def report(rules: dict[str, str], found: dict[str, list[str]]) -> tuple[str, int]:
    """Return what is printed, and the exit code."""
    lines = []
    for each, text in rules.items():
        lines.append(f"{each}: {text}")
        lines += [f"    {name}" for name in found[each] or ["NO TEST"]]
    gaps = [each for each in rules if not found[each]]
    lines.append(f"{len(rules)} rules, {len(gaps)} without a test{': ' if gaps else ''}")
    return "\n".join(lines) + ", ".join(gaps), 1 if gaps else 0


if __name__ == "__main__":
    rules = read_rules()
    text, code = report(rules, by_rule(rules, find_tests()))
    sys.stdout.write(text + "\n")
    sys.exit(code)
