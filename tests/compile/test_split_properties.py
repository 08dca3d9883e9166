"""Whatever a page file holds: no wrong split without a problem, no exception, linear time."""

from __future__ import annotations

import ast
import gc
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fxtrio.compile.sections import Sections, split

CASES = Path(__file__).parent / "cases"
SAMPLES = sorted(path.read_text() for path in CASES.glob("*.fxl"))

# Whole statements of one language, which the other cannot take for its own.
PYTHON = [
    "import os\n",
    "from a import b, c\n",
    "def f(x):\n    return {x: 1}\n",
    "async def load(request):\n    '''\nexport default 1\n    '''\n    return {}\n",
    "@server\nasync def g(request):\n\n    # note\n    return [\n1]\n",
    "class A(B):\n\tx = 1\n",
    'HEAD = ["<p>", `x`]\n'.replace("`", "'"),
    'CACHE = {"revalidate": 1}\n',
    "ALL_CAPS = (1, 'export {}')\n",
    "if True:\n    pass\nelse:\n    pass\n",
    "try:\n    pass\nexcept OSError:\n    pass\n",
    "# import x from 'y'\n",
]
CODE = "def x():\n    return `\nfrom a import b\n@c\nasync def d(): pass\n"
UI = [
    "import a from 'b'\n",
    "export default function P() {\n  return <p>it's {1} \"</p>\n}\n",
    "const t = `\n" + CODE.replace("`", "1") + "`\n",
    "const u = <pre>\n" + CODE.replace("`", "don't") + "</pre>\n",
    "/*\n" + CODE.replace("`", "'") + "*/\n",
    'const v = <p title="\n' + CODE.replace("`", "'") + '" />\n',
    "// def x():\n",
    "const r = /[/'\"`{]/g, s = a / b / c\n",
    "function f() {\nif (a) {\n}\n}\n",
    "class A extends B {\n}\n",
    "@a({\n})\nexport class C {}\n",
    "type T<A> = { a: A } | 'b'\n",
    "const g = <T,>(x: T) => x\n",
    "const w = `${`${'}'}`}`;\n",
    "if (a) {\n} else {\n}\n",
]


@given(st.lists(st.sampled_from(PYTHON) | st.sampled_from(UI), max_size=12), st.booleans())
def test_statements_go_to_their_half_in_any_order(pieces: list[str], crlf: bool) -> None:
    text = "".join(pieces)
    python = "".join(piece if piece in PYTHON else "\n" * piece.count("\n") for piece in pieces)
    ui = "".join(piece if piece in UI else "\n" * piece.count("\n") for piece in pieces)
    sections = split(text.replace("\n", "\r\n") if crlf else text, "a.fxl")
    assert sections.problems == ()
    assert (sections.python, sections.ui) == (python, ui)


def holds_together(text: str, sections: Sections) -> None:
    """Check what is true of every split."""
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n")
    python, ui = sections.python.split("\n"), sections.ui.split("\n")
    assert len(lines) == len(python) == len(ui)
    for line, python_line, ui_line in zip(lines, python, ui, strict=True):
        assert "" in (python_line, ui_line)
        assert python_line + ui_line in ("", line)
        if not sections.problems and not line.lstrip(" \t\f").startswith("#"):
            assert (python_line + ui_line).strip() == line.strip()
    if not sections.problems:
        ast.parse(sections.python)
    for problem in sections.problems:
        assert 1 <= problem.line <= len(lines)
        assert problem.column >= 1
        assert "\n" not in str(problem)


FRAGMENTS = st.one_of(
    st.sampled_from(["def f(x):", "    return 1", "@a", "class X:", "class Y {", "}", "{", "("]),
    st.sampled_from([")", "`", "'", '"', "'''", '"""', "/*", "*/", "//", "#", "# --- ui ---"]),
    st.sampled_from(
        ["<a>", "</a>", "<", "/", "/>", "${", "\\", "=", "x", "1", ":", ";", ",", "\n"]
    ),
    st.sampled_from(["\n", "\n", " ", "\t", "import a", "from b import c", "export default"]),
    st.sampled_from(["HEAD = ", "const a = ", "=>", "!", "[", "]", "\r\n", "\ufeff", "\0"]),
    st.sampled_from(["async ", "await ", "if (x)", "type A = ", "\f", "\x1f", "é", "\u2028"]),
)


@settings(max_examples=300)
@given(st.lists(FRAGMENTS, max_size=40).map("".join))
def test_any_mixture_of_fragments_holds_together(text: str) -> None:
    holds_together(text, split(text, "a.fxl"))


@given(st.text(max_size=80))
def test_any_text_holds_together(text: str) -> None:
    holds_together(text, split(text, "a.fxl"))


@settings(max_examples=200)
@given(st.data())
def test_a_sample_with_a_piece_cut_out_holds_together(data: st.DataObject) -> None:
    text = data.draw(st.sampled_from(SAMPLES))
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(len(text), start + 60)))
    cut = text[:start] + data.draw(st.sampled_from(["", '"', "`", "{", "<a>", "("])) + text[end:]
    holds_together(cut, split(cut, "a.fxl"))


LARGE = {
    "a realistic page": (CASES / "chat.fxl").read_text(),
    "typescript": (CASES / "typescript.fxl").read_text(),
    "python lines": "x = 1\n",
    "one line": "x = 1; ",
    "broken definitions": "def f(\n",
    "brackets that Python does not see": "const a = 1\nX = ( # )\n",
    "decorators": "@a(\n",
    "decorated classes": "@a\n@b\n@c class D {}\n",
    "open brackets": "const a = {[(\n",
    "closing brackets": ")\n",
    "nested templates": "`${",
    "nested elements": "<a>{",
    "slashes": "const a = /[\n/[/[",
    "type parameters": "const a = <b>(<c",
    "comments without end": "const a = 1 /* ",
    "triple quotes": "x = '''\ny = \"\"\"\n",
    "quotes": "const a = '\n\"\n",
    "changes of language": "const a = <A<B\ndef f():\n    pass\n",
    "blank lines": "\n \n",
    "markers": "# --- ui ---\n",
    "spaces": "from ",
    "dots": "from ....",
    "bangs": "!a",
    "operators": "-",
    "backslashes": "\\",
    "doubtful calls": "import a from 'b'\nfoo(1)\nFOO = 1\n",
}


@pytest.mark.parametrize("piece", LARGE.values(), ids=LARGE)
def test_the_time_is_linear_in_the_size(piece: str) -> None:
    """The bound is about ten times what this takes; a quadratic walk is far above it."""
    text = piece * (200_000 // len(piece))
    gc.collect()
    start = time.process_time()
    holds_together(text, split(text, "a.fxl"))
    assert time.process_time() - start < 4


def test_a_megabyte_of_page_takes_less_than_two_seconds() -> None:
    text = LARGE["a realistic page"]
    text *= 1_000_000 // len(text)
    start = time.process_time()
    sections = split(text, "a.fxl")
    assert time.process_time() - start < 2
    assert sections.problems == ()
