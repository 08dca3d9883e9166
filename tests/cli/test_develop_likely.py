"""Likely mistakes of UI code are looked for after changes that can have made some."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import attrs
import pytest
import trio
from trio.testing import MockClock

from fxtrio.compile.problems import Problem
from fxtrio.compile.project import check_project
from fxtrio.config import Config
from fxtrio.develop.build.background_lint import LikelyMistakes
from fxtrio.develop.report.diagnostic_dedup import ToldOnce
from fxtrio.develop.report.overlay_errors import Shown
from tests.trees import PAGE, page, write_tree

LOADER = '@server\nasync def load(request):\n    return {"message": "%s"}\n'


@attrs.define
class Looked:
    """Stands in for Node: every page has a mistake."""

    times: int = 0
    shown: list[list[Shown]] = attrs.field(factory=list)

    async def look(self, order: dict[str, Any]) -> dict[str, Any]:
        self.times += 1
        place = {"path": "pages/index.fxl", "line": 1, "column": 1}
        message = f"mistake in {len(order['files'])}"
        told = {"message": message, "remedy": "Mend it", "certain": False, "syntax": False}
        return {"problems": [{**place, **told}]}

    async def show(self, problems: list[Shown]) -> None:
        self.shown.append(problems)


@pytest.fixture
def looked() -> Looked:
    return Looked()


async def test_only_what_mistakes_can_come_from_is_looked_at_again(
    looked: Looked, tmp_path: Path, autojump_clock: MockClock
) -> None:
    told: list[Problem] = []
    async with trio.open_nursery() as nursery:
        once = ToldOnce(told.append)
        mistakes = LikelyMistakes(tmp_path, nursery, print, once, looked.look, looked.show)

        async def look(text: str, *files: str) -> int:
            write_tree(tmp_path, {"pages/index.fxl": text})
            project = check_project(tmp_path, Config())
            mistakes.look_later(project, tmp_path, Config(), files)
            await trio.sleep(60)
            return looked.times

        assert await look(page(LOADER % "one")) == 1
        assert await look(page(LOADER % "two"), "pages/style.css", "data.json") == 1
        assert await look(page(LOADER % "two"), "parts/card.jsx") == 2
        assert await look(page("new = 1\n" + LOADER % "two")) == 3  # a name that the UI may use
        assert await look(PAGE) == 4

    assert len(told) == 1  # each is told once
    assert [len(one) for one in looked.shown] == [1]


async def test_changes_in_a_row_are_looked_at_together(
    looked: Looked, tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with trio.open_nursery() as nursery:
        mistakes = LikelyMistakes(
            tmp_path, nursery, print, ToldOnce(print), looked.look, looked.show
        )
        for number in range(5):
            write_tree(tmp_path, {"pages/index.fxl": f"// {number}\n{PAGE}"})
            project = check_project(tmp_path, Config())
            mistakes.look_later(project, tmp_path, Config(), ["card.jsx"])
            await trio.sleep(0.5)

    assert looked.times == 1


def mistake(line: int, message: str) -> Problem:
    return Problem("pages/index.fxl", line, 1, message, "Mend it")


def test_two_checks_that_know_of_one_mistake_tell_it_once() -> None:
    told: list[Problem] = []
    once = ToldOnce(told.append)

    def look(check: str, *problems: Problem) -> list[str]:
        told.clear()
        once.tell(check, problems)
        return [problem.message for problem in told]

    assert look("names", mistake(1, "unknown a"), mistake(2, "no b")) == ["unknown a", "no b"]
    assert look("types", mistake(1, "cannot find a"), mistake(3, "no c")) == ["no c"]
    # Another mistake in the same place.
    assert look("types", mistake(1, "cannot find d"), mistake(3, "no c")) == []
    assert look("names", mistake(1, "unknown d"), mistake(2, "no b")) == ["unknown d"]
    # The first is repaired, which leaves the other.
    assert look("types", mistake(1, "d is none"), mistake(3, "no c")) == []
    assert look("names", mistake(2, "no b")) == ["d is none"]
    assert look("types", mistake(3, "no c")) == []
    assert look("types", mistake(1, "d is none"), mistake(3, "no c")) == ["d is none"]
