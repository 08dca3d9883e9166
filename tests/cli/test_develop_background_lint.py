"""The client halves are linted after changes that can have caused findings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import attrs
import pytest
import trio
from trio.testing import MockClock

from fxtrio.compile.problems import Problem
from fxtrio.compile.project import CheckedTexts, check_project
from fxtrio.config import Config
from fxtrio.develop.build.background_lint import BackgroundLint
from fxtrio.develop.build.outlines import CheckInput, Outlines
from fxtrio.develop.report.diagnostic_dedup import NewProblems
from fxtrio.develop.report.overlay_errors import OverlayProblem
from fxtrio.tools.project_checks import project_files
from tests.trees import PAGE, page, write_tree

LOADER = '@server\nasync def load(request):\n    return {"message": "%s"}\n'


@attrs.define
class Looked:
    """Stands in for Node: every page has a mistake, unless ``finds`` is false."""

    finds: bool = True
    times: int = 0
    changed: list[list[str]] = attrs.field(factory=list)
    """The files of orders that name those that have changed."""

    knows: bool = True
    """Whether it knows the files that such an order leaves out."""

    displayed: list[list[OverlayProblem]] = attrs.field(factory=list)

    async def look(self, order: dict[str, Any]) -> dict[str, Any]:
        if "changed" in order:
            self.changed.append([one["path"] for one in order["changed"]])
            if not self.knows:
                return {"problems": [], "unknown": True}
        self.times += 1
        place = {"path": "pages/index.fxl", "line": 1, "column": 1}
        message = "mistake in the page"
        details = {"message": message, "remedy": "Mend it", "certain": False, "syntax": False}
        return {"problems": [{**place, **details}] if self.finds else []}

    async def show(self, problems: list[OverlayProblem]) -> None:
        self.displayed.append(problems)


@pytest.fixture
def looked(monkeypatch: pytest.MonkeyPatch) -> Looked:
    async def nothing(*_: object, **__: object) -> list[Problem]:
        return []

    # It works in threads, for which a mocked clock does not wait.
    monkeypatch.setattr(project_files, "beside_problems", nothing)
    return Looked()


async def test_only_what_mistakes_can_come_from_is_looked_at_again(
    looked: Looked, tmp_path: Path, autojump_clock: MockClock
) -> None:
    reported: list[Problem] = []
    async with trio.open_nursery() as nursery:
        once = NewProblems(reported.append)
        mistakes = BackgroundLint(tmp_path, nursery, print, once, looked.look, looked.show)

        async def look(text: str, *files: str) -> int:
            write_tree(tmp_path, {"pages/index.fxl": text})
            project = check_project(tmp_path, Config())
            mistakes.look_later(CheckInput(project, Config(), {}), tmp_path, files)
            await trio.sleep(60)
            return looked.times

        assert await look(page(LOADER % "one")) == 1
        assert await look(page(LOADER % "two"), "pages/style.css", "data.json") == 1
        assert await look(page(LOADER % "two"), "parts/card.jsx") == 2
        assert await look(page("new = 1\n" + LOADER % "two")) == 3  # a name that the UI may use
        assert await look(PAGE) == 4

    assert len(reported) == 1  # each is told once
    assert [len(one) for one in looked.displayed] == [1]


async def test_other_words_are_not_looked_at_unless_the_place_of_a_mistake_depends_on_them(
    looked: Looked, tmp_path: Path, autojump_clock: MockClock
) -> None:
    looked.finds = False
    outlines = Outlines()
    async with trio.open_nursery() as nursery:
        mistakes = BackgroundLint(
            tmp_path, nursery, print, NewProblems(print), looked.look, looked.show
        )

        async def look(text: str, outline: str) -> int:
            write_tree(tmp_path, {"pages/index.fxl": text})
            project = check_project(tmp_path, Config())
            outlines.note({page.module.source: page for page in project.pages}, known(outline))
            mistakes.look_later(outlines.check_input(project, Config()), tmp_path)
            await trio.sleep(60)
            return looked.times

        assert await look(PAGE, "a") == 1
        assert await look(f"// one\n{PAGE}", "a") == 1
        assert await look(f"// two\n{PAGE}", "b") == 2
        assert await look(f"// three\n{PAGE}", "") == 3  # nobody has said what it looks like
        looked.finds = True
        assert await look(f"// four\n{PAGE}", "c") == 4
        assert await look(f"// five\n{PAGE}", "c") == 5


def known(outline: str) -> dict[str, str]:
    return {"pages/index.fxl": outline} if outline else {}


async def test_changes_in_a_row_are_looked_at_together(
    looked: Looked, tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with trio.open_nursery() as nursery:
        mistakes = BackgroundLint(
            tmp_path, nursery, print, NewProblems(print), looked.look, looked.show
        )
        for number in range(5):
            write_tree(tmp_path, {"pages/index.fxl": f"// {number}\n{PAGE}"})
            project = check_project(tmp_path, Config())
            mistakes.look_later(CheckInput(project, Config(), {}), tmp_path, ["card.jsx"])
            await trio.sleep(0.5)

    assert looked.times == 1


def mistake(line: int, message: str) -> Problem:
    return Problem("pages/index.fxl", line, 1, message, "Mend it")


def test_two_checks_that_find_one_mistake_report_it_once() -> None:
    reported: list[Problem] = []
    once = NewProblems(reported.append)

    def look(check: str, *problems: Problem) -> list[str]:
        reported.clear()
        once.report(check, problems)
        return [problem.message for problem in reported]

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


async def test_python_is_looked_at_again_when_it_may_be_other_code(
    looked: Looked, tmp_path: Path, autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    beside: list[object] = []

    async def count(*_: object, **__: object) -> list[Problem]:
        beside.append(None)
        return []

    monkeypatch.setattr(project_files, "beside_problems", count)
    async with trio.open_nursery() as nursery:
        mistakes = BackgroundLint(
            tmp_path, nursery, print, NewProblems(print), looked.look, looked.show
        )

        async def look(text: str, *files: str) -> int:
            write_tree(tmp_path, {"pages/index.fxl": text})
            project = check_project(tmp_path, Config())
            mistakes.look_later(CheckInput(project, Config(), {}), tmp_path, files)
            await trio.sleep(60)
            return len(beside)

        assert await look(PAGE) == 1
        assert await look(f"// one\n{PAGE}", "parts/card.jsx") == 1
        assert await look(page(LOADER % "one")) == 2
        mistakes.forget_beside()
        assert await look(page(LOADER % "one"), "parts/card.jsx") == 3
        assert await look(f"// two\n{PAGE}", "tsconfig.json") == 4


def test_a_module_with_the_same_outline_gives_checks_nothing_to_see(tmp_path: Path) -> None:
    outlines = Outlines()

    def seen(outline: str | None, *files: str) -> tuple[str, ...]:
        known = {} if outline is None else {str(tmp_path / "card.jsx"): outline}
        return outlines.seen_otherwise(files, known, tmp_path)

    assert seen("a", "card.jsx", "look.css") == ("card.jsx", "look.css")
    assert seen("a", "card.jsx") == ()
    assert seen("b", "card.jsx") == ("card.jsx",)
    assert seen(None, "card.jsx") == ("card.jsx",)  # it is gone, or does not parse
    assert seen("b", "card.jsx") == ("card.jsx",)


async def test_only_pages_that_have_changed_are_handed_on_while_nothing_else_has(
    looked: Looked, tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with trio.open_nursery() as nursery:
        mistakes = BackgroundLint(
            tmp_path, nursery, print, NewProblems(print), looked.look, looked.show
        )
        memory = CheckedTexts()

        async def look(text: str, *files: str) -> tuple[int, list[list[str]]]:
            write_tree(tmp_path, {"pages/index.fxl": text, "pages/other.fxl": PAGE})
            project = check_project(tmp_path, Config(), memory)
            mistakes.look_later(CheckInput(project, Config(), {}), tmp_path, files)
            await trio.sleep(60)
            changed, looked.changed = looked.changed, []
            return looked.times, changed

        index = [["pages/index.fxl"]]
        assert await look(f"// one\n{PAGE}") == (1, [])  # the first time, all
        assert await look(f"// two\n{PAGE}") == (2, index)
        assert await look(f"// three\n{PAGE}", "pages/style.css") == (3, [])  # it may conflict
        assert await look(f"// four\n{PAGE}") == (4, index)
        looked.knows = False  # Node has restarted
        assert await look(f"// five\n{PAGE}") == (5, index)
        looked.knows = True
        assert await look(PAGE) == (6, index)
