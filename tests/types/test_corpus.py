"""Mistakes between the halves are found where they are, and right programs are left alone.

Each page of `tests/types/corpus` is one program; a mark says where its mistake is. They are one
project, so that the gatherer and each of the compilations run once. The folder ``basics`` has
what is plainly wrong or right, ``themes`` what is subtle, and ``daily`` a list of what developers
do in a day, of increasing subtlety, that was written before the code was read. For ``later`` the
same holds, after what ``daily`` had found was repaired.
"""

from __future__ import annotations

import re
from pathlib import Path

import trio

from fxtrio.cli.typecheck import check_types
from tests.types.projects import write_corpus

MISSED = frozenset(
    {
        "pages/components/helper.fxl",
        "pages/encoded/colours-of-level.fxl",
    }
)
"""Mistakes that are not found: at most three of a hundred."""

_SAYS_NOTHING = re.compile(
    r"\bCorrect|Pass a value of the expected type\.?$|Use one that exists\.?$"
)
"""Remedies for what is known too little of."""


async def problems_of(root: Path) -> dict[str, list[str]]:
    messages: list[str] = []
    with trio.fail_after(500):
        checked = await check_types(root, python=False, report=messages.append)
    found: dict[str, list[str]] = {}
    for problem in checked.problems:
        path = Path(problem.path).as_posix().removeprefix(f"{root.as_posix()}/")
        place = f"{problem.line}:{problem.column}"
        found.setdefault(path, []).append(f"{place}: {problem.message}. {problem.remedy}")
    return found


async def test_mistakes_are_found_in_their_places_and_right_programs_are_left_alone(
    tmp_path: Path,
) -> None:
    project = write_corpus(tmp_path)
    found = await problems_of(tmp_path)
    places = {source: [one.partition(": ")[0] for one in heads] for source, heads in found.items()}
    marks = {source: f"{line}:{column}" for source, (line, column) in project.marks.items()}
    missed = {source for source, mark in marks.items() if mark not in places.get(source, ())}
    lines = {source: str(line) for source, (line, _) in project.marks.items()}
    false = {
        source: heads
        for source, heads in found.items()
        if {one.partition(":")[0] for one in heads} != {lines.get(source)}
    }

    messages = [one for of_page in found.values() for one in of_page]

    assert [one for one in messages if _SAYS_NOTHING.search(one)] == []
    assert len(marks) >= 360
    assert project.pages - len(marks) >= 300
    assert missed == MISSED
    assert len(missed) <= 0.03 * len(marks)
    assert false == {}
    _assert_remedies(found)


def _assert_remedies(found: dict[str, list[str]]) -> None:
    remedies = {
        "encoded/decimal-local": "A Decimal is text here: Number(data.total)",
        "encoded/datetime-in-variable": "A datetime is text here: new Date(since)",
        "encoded/uuid-number": "A UUID is text here",
        "encoded/set-has": "A set is a list here: write .includes",
        "encoded/enum-value": "An Enum is its value here: leave out '.value'",
        "actions/enum": 'It takes "high", "low" or "middle"',
        "actions/no-body": "Pass an object with name, price, size, tags, built",
        "actions/misspelt": "Did you mean 'price'?",
        "code03/index": "It is an object: Object.values(data.users) lists its values",
        "data/const-key": "there is no 'nmae' in 'Bike'. It has id, name, price",
        "elsewhere/nowhere": "no page has the path '/elsewhere/sauce'. Did you mean "
        "'/elsewhere/source'",
        "key-of-a-stream": "It has values, last, status, missed, error",
        "message-kind": "no 'member' in a message of the WebSocket. Did you mean 'members'?",
        "models17/index": "It has been parsed already: use it as it is",
        "socket-path-typed": "no page with a WebSocket has the path '/mesage-kind'. "
        "Did you mean '/message-kind'?",
        "text05/index": "A Decimal is text here: Number(line.price)",
        "text19/index": "A timedelta is text here, such as PT90S: send its total_seconds()",
    }
    texts = {page: " ".join(found[f"pages/{page}.fxl"]) for page in remedies}
    assert {page: one for page, one in texts.items() if remedies[page] not in one} == {}
