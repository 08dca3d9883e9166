"""Single texts through the formatters: what is preserved, what is rejected, whose settings hold."""

from __future__ import annotations

from pathlib import Path

import pytest

from fxtrio.tools.format.ruff import RuffFailed
from tests.format.support import format_all, format_one
from tests.trees import write_tree

pytestmark = pytest.mark.node

BOTH = """\
x={'a':1}
@server
async def load( request ):
    return x
import {Link} from 'fx/client'
export default ()=><Link href='/'>a</Link>
"""


def test_each_half_has_the_style_of_its_own_formatter(tmp_path: Path) -> None:
    assert format_one(tmp_path, BOTH).text == (
        'x = {"a": 1}\n\n\n@server\nasync def load(request):\n    return x\n\n\n'
        'import { Link } from "fx/client";\n'
        'export default () => <Link href="/">a</Link>;\n'
    )


def test_halves_that_alternate_stay_where_they_are(tmp_path: Path) -> None:
    text = "HEAD='a'\nconst a=1\ndef f(): pass\nconst b=2\n# note\nMEMO=False\n"
    assert format_one(tmp_path, text).text == (
        'HEAD = "a"\n\nconst a = 1;\n\n\n'
        "def f():\n    pass\n\n\nconst b = 2;\n# note\nMEMO = False\n"
    )


def test_a_line_that_fixes_the_border_stays(tmp_path: Path) -> None:
    text = "X=1\n# --- ui ---\nY=1\n"
    assert format_one(tmp_path, text).text == "X = 1\n# --- ui ---\nY = 1;\n"


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("def f(:\n  pass\n", (1, 7), "broken Python"),
        ("X = 1\n\nimport a from 'b'\nexport default <p>\n", (4, 0), ""),
        ("X = 1\nconst a = 1\ndef f():\n    pass\nconst b = (\n", (5, 0), "never closed"),
        ("const a = b\nLIMIT = 5;\n(() => {\n  f()\n})()\n", (3, 1), "continues a statement"),
        (";;;\n/a/.test(b)\n", (1, 1), "read as the other language"),
    ],
)
def test_what_does_not_compile_stays_and_says_where(
    tmp_path: Path, text: str, place: tuple[int, int], message: str
) -> None:
    result = format_one(tmp_path, text)
    assert result.text == text
    problem = result.problems[0]
    assert problem.line == place[0] and (not place[1] or problem.column == place[1])
    assert message in problem.message and problem.remedy


def test_the_settings_of_the_project_hold(tmp_path: Path) -> None:
    write_tree(
        tmp_path,
        {
            "ruff.toml": "[format]\nquote-style = 'single'\n",
            ".prettierrc.json": '{"semi": false}',
            ".editorconfig": "root = true\n[*.{tsx,ts}]\nindent_style = space\nindent_size = 8\n",
            "pages/near/.prettierrc.json": '{"singleQuote": true}',
            "pages/near/ruff.toml": "indent-width = 2\n",
        },
    )
    text = 'def f():\n    return "a"\n\n\nexport function g() {\n  return "b"\n}\n'
    far, near = "pages/index.fxl", "pages/near/index.fxl"
    results = format_all(tmp_path, {far: text, near: text})
    assert results[far].text == (
        "def f():\n    return 'a'\n\n\nexport function g() {\n        return \"b\"\n}\n"
    )
    assert results[near].text == (
        "def f():\n  return \"a\"\n\n\nexport function g() {\n        return 'b';\n}\n"
    )


def test_settings_for_pages_alone_win(tmp_path: Path) -> None:
    overrides = (
        '[{"files": "*.tsx", "options": {"semi": false, "singleQuote": true}},'
        ' {"files": "*.fxl", "options": {"singleQuote": false, "semi": true}}]'
    )
    write_tree(tmp_path, {".prettierrc.json": f'{{"tabWidth": 3, "overrides": {overrides}}}'})
    assert format_one(tmp_path, "if (a) {\n  b('c')\n}\n").text == 'if (a) {\n   b("c");\n}\n'


def test_what_the_project_excludes_stays_as_it_is(tmp_path: Path) -> None:
    files = {".prettierignore": "pages/old\n", "ruff.toml": 'exclude = ["pages/raw"]\n'}
    write_tree(tmp_path, files)
    text = "X  =  1\nconst  a = 1\n"
    names = dict.fromkeys(("pages/old/a.fxl", "pages/raw/a.fxl"), text)
    results = format_all(tmp_path, names)
    assert results["pages/old/a.fxl"].text == "X = 1\n\nconst  a = 1\n"
    assert results["pages/raw/a.fxl"].text == "X  =  1\n\nconst a = 1;\n"


def test_other_files_go_to_the_formatter_of_their_kind(tmp_path: Path) -> None:
    texts = {"app.py": "x=1", "a.css": "a{b:c}", "b.jsx": "f( )", "c.bin": "x", "d.py": "x = ("}
    results = format_all(tmp_path, texts)
    formatted = ("x = 1\n", "a {\n  b: c;\n}\n", "f();\n")
    assert tuple(results[name].text for name in ("app.py", "a.css", "b.jsx")) == formatted
    assert "does not know this kind of file" in str(results["c.bin"].problems[0])
    assert results["d.py"].text == "x = (" and results["d.py"].problems


def test_a_setting_that_ruff_rejects_is_reported_once(tmp_path: Path) -> None:
    write_tree(tmp_path, {"ruff.toml": "line-lenght = 3\n"})
    with pytest.RaisesGroup(
        pytest.RaisesExc(RuffFailed, match="line-lenght"), flatten_subgroups=True
    ):
        format_all(tmp_path, {f"pages/{number}.fxl": "X=1\n" for number in range(9)})
