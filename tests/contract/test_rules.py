"""The list of rules is that of the reference, and every rule has a test."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.contract.__main__ import README, render_readme, report
from tests.contract.rules import (
    MOST_AT_ONCE,
    Covering,
    by_rule,
    find_tests,
    prefix_of,
    read_remarks,
    read_rules,
    read_statements,
    rule,
)


def test_every_rule_has_a_test() -> None:
    rules = read_rules()
    text, code = report(rules, by_rule(rules, find_tests()))
    assert code == 0, text.splitlines()[-1]


def test_the_readme_is_what_the_marks_make() -> None:
    """Write it with `python -m tests.contract --write`."""
    assert README.read_text(encoding="utf-8") == render_readme(read_rules(), find_tests())


def test_a_rule_without_a_test_is_in_the_table_as_such() -> None:
    table = render_readme({"loader.1": "One | two."}, [])
    assert table.endswith("| loader.1 | One \\| two. | **none** |\n")


def test_the_rules_are_the_statements_of_the_reference() -> None:
    known = Counter([*read_rules().values(), *read_remarks()])
    assert known == Counter(read_statements())
    assert len(read_rules()) > 150


def test_every_test_is_named_after_the_first_of_its_rules() -> None:
    tests = find_tests()
    assert [each.name for each in tests if not _is_named(each)] == []
    assert [each.name for each in tests if len(each.ids) > MOST_AT_ONCE] == []


def _is_named(test: Covering) -> bool:
    name = test.name.rpartition("::")[2]
    return name.startswith(prefix_of(test.ids[0]) + "_")


def test_a_rule_without_a_test_is_a_gap_with_exit_code_1() -> None:
    rules = {"loader.1": "One.", "loader.2": "Two."}
    tests = [Covering("tests/contract/test_x.py::test_loader_1_x", ("loader.1",))]
    text, code = report(rules, by_rule(rules, tests))
    assert code == 1
    assert text.splitlines() == [
        "loader.1: One.",
        "    tests/contract/test_x.py::test_loader_1_x",
        "loader.2: Two.",
        "    NO TEST",
        "2 rules, 1 without a test: loader.2",
    ]


@pytest.mark.parametrize("ids", [(), ("loader.99",), ("loader.1", "loader")])
def test_an_unknown_rule_cannot_be_borne(ids: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match=r"rules\.toml"):
        rule(*ids)
