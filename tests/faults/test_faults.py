"""The short form of ``python -m tests.faults``, and its judgement."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
import trio

from tests.faults.__main__ import PAGE, merge, rows, table
from tests.faults.bank import build_bank
from tests.faults.judge import PROMISES, Answers, Ledger, judge
from tests.faults.kinds import FAULTS
from tests.faults.run import Report, run_fault
from tests.faults.world import Engine

GOOD = Ledger(100, {"a", "b"}, Counter("ab"), Counter("abb"), {"done": 5})


def broken(answers: Answers, ledger: Ledger, back_after: float = 1.0) -> list[str]:
    found = judge(answers, ledger, cents=100, back_after=back_after)
    return [name for name, count in found.items() if count]


def test_what_holds_breaks_no_promise() -> None:
    assert broken(Answers({"a"}), GOOD) == []


@pytest.mark.parametrize(
    ("ledger", "promise"),
    [
        (Ledger(99, {"a"}, Counter("a"), Counter("a"), {}), 0),
        (Ledger(100, {"b"}, Counter("b"), Counter("b"), {}), 1),
        (Ledger(100, {"a"}, Counter("aa"), Counter("a"), {}), 2),
        (Ledger(100, {"a"}, Counter(), Counter("a"), {}), 2),
        (Ledger(100, {"a"}, Counter("a"), Counter(), {}), 3),
        (Ledger(100, {"a"}, Counter("a"), Counter("ab"), {}), 4),
        (Ledger(100, {"a"}, Counter("a"), Counter("a"), {"done": 1, "running": 1}), 5),
        (Ledger(100, {"a"}, Counter("a"), Counter("a"), {"failed": 1}), 5),
    ],
)
def test_each_promise_can_be_seen_to_break(ledger: Ledger, promise: int) -> None:
    assert broken(Answers({"a"}), ledger) == [PROMISES[promise]]


def test_a_return_after_the_deadline_breaks_its_promise() -> None:
    assert broken(Answers({"a"}), GOOD, back_after=20.5) == [PROMISES[-1]]


def test_the_table_adds_the_runs_of_a_fault_up() -> None:
    clean = dict.fromkeys(PROMISES, 0)
    runs = [
        Report("cut", "sqlite", 10, Counter(), 2, 0.5, clean),
        Report("cut", "sqlite", 5, Counter(), 0, 2.0, {**clean, PROMISES[0]: 1}),
    ]
    row = table(rows(runs)).splitlines()[-1]
    assert row == "| cut | SQLite | 2 | 15 | 2.0 s | 1 | 0 | 0 | 0 | 0 | 0 | 0 |"


def test_a_row_takes_the_place_of_the_one_before_and_leaves_the_others() -> None:
    page = PAGE.read_text(encoding="utf-8")
    clean = dict.fromkeys(PROMISES, 0)
    first, last = FAULTS[0].name, FAULTS[-1].name
    for runs in (
        [Report(last, "postgresql", 7, Counter(), 0, 1.0, clean)],
        [Report(first, "sqlite", 8, Counter(), 0, 1.0, clean)],
        [Report(first, "sqlite", 9, Counter(), 0, 1.0, clean)],
    ):
        page = merge(page, rows(runs))
    lines = page.splitlines()
    (row,) = [line for line in lines if line.startswith(f"| {last} | PostgreSQL |")]
    assert row.split(" | ")[3] == "7"
    (row,) = [line for line in lines if line.startswith(f"| {first} | SQLite |")]
    assert row.split(" | ")[3] == "9"
    assert lines.index(row) < len(lines) - 1
    assert merge(page, {}) == page


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return trio.run(build_bank, tmp_path_factory.mktemp("bank"))


@pytest.mark.node
@pytest.mark.parametrize(
    ("name", "engine"),
    [
        ("kill -9 of one process, three times", "sqlite"),
        pytest.param("connections reset, five times", "postgresql", marks=pytest.mark.nightly),
        pytest.param(
            "behind pgbouncer in transaction mode", "postgresql", marks=pytest.mark.nightly
        ),
    ],
)
async def test_promises_hold_under_faults(built: Path, name: str, engine: Engine) -> None:
    (fault,) = (each for each in FAULTS if each.name == name)
    report = await run_fault(built, fault, engine, lead=0.5, tail=0.5)
    assert report.good, report
