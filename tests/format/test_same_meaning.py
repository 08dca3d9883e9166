"""Whatever a page holds: formatting it keeps what it means, and doing so again changes nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from fxtrio.compile.split.halves import split
from tests.compile.hostile import CASES, PYTHON, UI
from tests.docs.pages import ROOT, blocks, documents, name
from tests.format.support import assert_well_formatted
from tests.short import amount

pytestmark = pytest.mark.node

MORE_PYTHON = [
    "LIMIT = 5;\n",
    "x  =  {'a':1,'b':(2)}\n",
    "def long(a, b):\n    return a + b, 'it''s', " + ", ".join(["a"] * 40) + "\n\n\n\n",
    "# --- a comment\n\n\n# and one more\n",
    "if True: pass\nelse: pass\n",
    "class B:\n    '''Text.\n      More.   \n    '''\n    def m(self): del (self)\n",
]
MORE_UI = [
    "(() => {\n  f()\n})()\n",
    "[1,2].map(f)\n",
    "`${1}`.length\n",
    "/a/.test(b)\n",
    "LIMIT = 5;\n",
    "lower = 'a';\n",
    "let z = a\n",
    "const j = <ul>{ a.map(b => <li key={b}>{b} c <b>d</b>{' '}</li>) } e </ul>\n",
    "// prettier-ignore\nconst m = [1,0,\n  0,1]\n",
    "if (a) b()\nelse c()\n\n\n\n",
    ";;;\n",
    "export const o = { 'a': 1, 'b-c': 0XFF, d }, p = (1, 2)\n",
    "'use client'\n",
    'import { type A, b as c } from "d"\n',
]
PIECES = st.one_of(
    st.sampled_from(PYTHON),
    st.sampled_from(UI),
    st.sampled_from(MORE_PYTHON),
    st.sampled_from(MORE_UI),
    st.sampled_from(["\n", "\n\n\n", "  \n", "# between\n"]),
)
PAGES = st.lists(st.lists(PIECES, max_size=10).map("".join), min_size=30, max_size=40)


def pages_of_the_project() -> dict[str, str]:
    """Return the text of every page that the project shows to people or tests itself with."""
    folders = (ROOT / "examples", ROOT / "fxtrio" / "starter", CASES)
    files = [file for folder in folders for file in sorted(folder.rglob("*.fxl"))]
    found = {file.relative_to(ROOT).as_posix(): file.read_text("utf-8") for file in files}
    for document in documents():
        for block in blocks(document):
            if block.file.endswith(".fxl"):
                found[f"{name(document)}/{block.line}/{block.file}"] = block.text
    return found


def test_pages_of_examples_docs_and_starter_keep_their_meaning(tmp_path: Path) -> None:
    pages = dict([*pages_of_the_project().items()][:: amount(3, long=1)])
    results = assert_well_formatted(tmp_path, pages)

    assert len(pages) > amount(23, long=70)
    with_problems = {name for name, result in results.items() if result.problems}
    assert with_problems <= {"tests/compile/cases/ambiguous.fxl"}, "which has problems in its split"


def test_what_was_between_two_parts_of_a_half_may_be_dropped(tmp_path: Path) -> None:
    page = "async def g(request):\n    return [1]\n\n;;;\n# between\n\nif (a) {\n}\n"
    assert_well_formatted(tmp_path, {"pages/a.fxl": page})


def test_imports_of_helpers_may_be_anywhere(tmp_path: Path) -> None:
    page = "X = 1\n;;;\nimport a from 'b'\n@a({\n})\nexport class C {}\n"
    assert_well_formatted(tmp_path, {"pages/a.fxl": page})


@settings(
    max_examples=amount(2, long=6),
    # Each example starts processes, so they are many pages, and the failure names the one.
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(PAGES)
def test_pages_of_any_statements_keep_their_meaning(tmp_path: Path, pages: list[str]) -> None:
    texts = {f"pages/{number}.fxl": text for number, text in enumerate(pages)}
    results = assert_well_formatted(tmp_path, texts)

    for path, result in results.items():
        if result.problems:
            assert result.text == texts[path]
            assert all("nothing" not in str(problem) for problem in result.problems)
        assert split(result.text, path).problems == split(texts[path], path).problems
