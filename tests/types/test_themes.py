"""Mistakes between the halves are found, by themes of increasing subtlety; right programs are not.

Each page of `tests/types/themes` is one program; a mark says where its mistake is. They are one
project, so that each of the three compilations runs once.
"""

from __future__ import annotations

import re
from pathlib import Path

from tests.types.projects import write_themes
from tests.types.test_corpus import problems_of

MISSED = frozenset(
    {
        "pages/components/helper.fxl",
        "pages/components/row-spread.fxl",
        "pages/encoded/colours-of-level.fxl",
        "pages/routes/navigate.fxl",
    }
)
"""Mistakes that are not found: at most three of a hundred."""


_SAYS_NOTHING = re.compile(r"\bCorrect|Pass a value of the expected type$|Use one that exists$")
"""Remedies for what is known too little of."""


async def test_mistakes_are_found_in_their_lines_and_right_programs_are_left_alone(
    tmp_path: Path,
) -> None:
    project = write_themes(tmp_path)
    found = await problems_of(tmp_path)
    lines = {source: {int(one.partition(":")[0]) for one in told} for source, told in found.items()}
    missed = {
        source for source, (line, _) in project.marks.items() if line not in lines.get(source, ())
    }
    false = {
        source: told
        for source, told in found.items()
        if not lines[source] <= {project.marks.get(source, (0, 0))[0]}
    }

    messages = [one for told in found.values() for one in told]

    assert [one for one in messages if _SAYS_NOTHING.search(one)] == []
    assert len(project.marks) >= 100
    assert project.pages - len(project.marks) >= 100
    assert missed == MISSED
    assert len(missed) <= 0.03 * len(project.marks)
    assert false == {}

    remedies = {
        "encoded/decimal-local": "A Decimal is text here: Number(data.total)",
        "encoded/datetime-in-variable": "A datetime is text here: new Date(since)",
        "encoded/uuid-number": "A UUID is text here",
        "encoded/set-has": "A set is a list here: write .includes",
        "encoded/enum-value": "An Enum is its value here: leave out '.value'",
        "actions/enum": 'It takes "high", "low" or "middle"',
        "actions/no-body": "Pass an object with name, price, size, tags, built",
        "actions/misspelt": "Did you mean 'price'?",
        "data/const-key": "there is no 'nmae' in 'Bike'. It has id, name, price",
        "elsewhere/nowhere": "no page has the path '/elsewhere/sauce'. Did you mean "
        "'/elsewhere/source'",
    }
    told = {page: " ".join(found[f"pages/{page}.fxl"]) for page in remedies}
    assert {page: one for page, one in told.items() if remedies[page] not in one} == {}
