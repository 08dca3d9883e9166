"""`check_project`: every problem of every file, and the entries of the manifest."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fxtrio.compile import file_checks
from fxtrio.compile.check.names.auto_imports import WITH_ACTION, WITH_LOADER
from fxtrio.compile.checked_page import CheckedPage
from fxtrio.compile.file_checks import check_page
from fxtrio.compile.problems import Problem, format_json, format_text, placed
from fxtrio.compile.project import CheckedProject, CheckedTexts, check_project
from fxtrio.compile.source import SourceText, read_text
from fxtrio.config import Config
from fxtrio.manifest import PageModule
from tests.trees import PAGE, write_tree

UI = "export default function Page() { return null }\n"


def check(root: Path, files: dict[str, str | bytes]) -> CheckedProject:
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return check_project(root, Config())


def problems_of(text: str, path: str = "pages/index.fxl") -> list[str]:
    found = check_page(read_text(text, path))[1]
    return [problem.head.removeprefix(f"{path}:") for problem in sorted(found)]


def test_every_problem_of_every_file_is_listed_by_place(tmp_path: Path) -> None:
    project = check(
        tmp_path,
        {
            "pages/index.fxl": "@server\ndef load():\n    return missing\n",
            "pages/b.fxl": "HEAD = 1\nx = = 1\n" + UI,
            "pages/blog/[id].fxl": UI,
            "pages/blog/[slug].fxl": UI,
            "pages/[[a].fxl": UI,
            "pages/layout.fxl": b"\xff",
            "pages/api/ping.py": "def get(request):\n    return pong\n",
            "pages/llms.py": "def to_markdown(ctx:\n    pass\n",
        },
    )
    places = [(p.path, p.line, p.column) for p in project.problems]
    assert places == sorted(places)
    assert places == [
        ("pages/[[a].fxl", 1, 1),
        ("pages/api/ping.py", 2, 12),
        ("pages/b.fxl", 1, 8),
        ("pages/b.fxl", 2, 5),
        ("pages/blog/[slug].fxl", 1, 1),
        ("pages/index.fxl", 2, 5),
        ("pages/index.fxl", 2, 5),
        ("pages/index.fxl", 3, 12),
        ("pages/index.fxl", 3, 18),
        ("pages/layout.fxl", 1, 1),
        ("pages/llms.py", 1, 16),
    ]
    for problem in project.problems:
        assert problem.message and not problem.message.endswith(".")
        assert problem.remedy and not problem.remedy.endswith(".")


def test_a_project_without_problems_has_its_pages_in_halves(tmp_path: Path) -> None:
    text = (
        '"""Doc."""\nCACHE = {"revalidate": 5}\nHEAD = "<title>T</title>"\n'
        "@server\nasync def load(request):\n    raise LoaderError('x')\n"
        "@action\nasync def save(request):\n    raise ActionError('x')\n" + UI
    )
    project = check(tmp_path, {"pages/a/index.fxl": text, "pages/layout.fxl": UI})
    assert project.problems == ()
    page, layout = project.pages
    assert page.module == PageModule(
        source="pages/a/index.fxl",
        code="server/pages/a/index.fxl.py",
        inject=(*WITH_LOADER, *WITH_ACTION),
        loader="load",
        actions=("save",),
        head=(["title", {}, "T"],),
        revalidate=5.0,
    )
    assert page.ui == "\n" * 9 + UI
    assert page.python.rstrip("\n") + "\n" + UI == text
    assert layout.module == PageModule(source="pages/layout.fxl")


def test_a_missing_pages_folder_is_a_problem(tmp_path: Path) -> None:
    [problem] = check_project(tmp_path, Config()).problems
    assert str(problem).startswith("pages: there is no such folder. Run 'fx init NAME'")


def test_a_pages_folder_without_pages_is_a_problem(tmp_path: Path) -> None:
    (tmp_path / "site").mkdir()
    [problem] = check_project(tmp_path, Config(pages_dir="site")).problems
    assert str(problem) == (
        "site: there are no pages in it. Write site/index.fxl, the page at '/'."
    )


def test_a_project_may_have_endpoints_and_no_pages(tmp_path: Path) -> None:
    (tmp_path / "pages/api").mkdir(parents=True)
    (tmp_path / "pages/api/x.py").write_text("def get(request):\n    return {}\n")
    assert check_project(tmp_path, Config()).problems == ()


def test_problems_are_placed_as_the_current_folder_sees_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    problems = [Problem("pages/b.fxl", 1, 2, "x", "y"), Problem("pages/a.fxl", 1, 2, "x", "y")]
    inside = [problem.path for problem in placed(problems, tmp_path)]
    below = [problem.path for problem in placed(problems, tmp_path / "shop")]
    above = [problem.path for problem in placed(problems, tmp_path.parent)]
    assert inside == ["pages/a.fxl", "pages/b.fxl"]
    assert below == ["shop/pages/a.fxl", "shop/pages/b.fxl"]
    assert above == [f"{tmp_path.parent}/pages/a.fxl", f"{tmp_path.parent}/pages/b.fxl"]


def test_a_file_that_cannot_be_read_is_a_problem(tmp_path: Path) -> None:
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages/index.fxl").symlink_to(tmp_path / "nowhere")
    found = [problem.head for problem in check_project(tmp_path, Config()).problems]
    assert len(found) == 1
    assert found[0].startswith("pages/index.fxl:1:1: it cannot be read: No such file")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("x = y\n", "1:5: undefined name 'y'. Define or import it."),
        ("@server\nasync def a(request): return requst\n", "2:30: undefined name 'requst'. "),
        ("x = LoaderError\n", "1:5: undefined name 'LoaderError'. Write 'from fx.runtime import"),
        ("@server\nasync def a(r): raise ActionError\n", "2:23: undefined name 'ActionError'."),
        ("def f():\n    print(z)\n    z = 1\n", "2:11: undefined name 'z'"),
        (
            "counter = 1\nx = countr\n",
            "2:5: undefined name 'countr'. Define or import it, or write",
        ),
        ("é = 'é'; x = y\n", "1:14: undefined name 'y'."),
        ("return 1\n", "1:1: broken Python: 'return' outside function."),
        ("def f():\n    await x\n", "2:5: broken Python: 'await' outside async function."),
        (
            "def f(a, a): pass\n",
            "1:10: broken Python: duplicate argument 'a' in function definition",
        ),
        ("x = 1\nfrom __future__ import annotations\n", "2:1: broken Python: from __future__"),
    ],
)
def test_what_keeps_python_from_running_is_reported(text: str, problem: str) -> None:
    found = problems_of(text + UI)
    assert len(found) == 1
    assert found[0].startswith(problem)


DEFERS = """from fx.runtime import defer as later


async def find(id=1):
    return id


async def stream():
    yield 1


def make():
    return find


def plain():
    return [1]


@MARK
async def load(request):
    return RETURNED


"""


@pytest.mark.parametrize(
    ("mark", "returned", "problem"),
    [
        ("server", "{'a': later(find, 1), 'b': later(make()), 'c': later(lambda: find())}", None),
        ("server", "({'a': later(find)}, 201)", None),
        ("server", "{'a': later(make)}", None),
        ("server", "{'a': later(plain)}", "22:24: defer: 'plain' is not async. Define it with"),
        ("server", "{'a': later(find(1))}", "22:24: defer: gets a call of 'find'. Pass the"),
        ("server", "{'a': later(stream)}", "22:24: defer: 'stream' has a yield. Return the"),
        ("server", "{'a': {'b': later(find)}}", "22:24: a deferred value is deeper in the"),
        ("server", "({'a': [later(find)]}, 201)", "22:20: a deferred value is deeper in"),
        ("action", "{'a': later(find)}", "22:18: @action 'load' returns a deferred value. Await"),
    ],
)
def test_a_deferred_value_that_cannot_be_sent_is_reported(
    mark: str, returned: str, problem: str | None
) -> None:
    found = problems_of(DEFERS.replace("MARK", mark).replace("RETURNED", returned) + UI)
    assert len(found) == (problem is not None)
    assert all(one.startswith(problem or "") for one in found)


@pytest.mark.parametrize(
    ("call", "problem"),
    [
        ("LoaderError('x', 99)", "2:18: LoaderError: the status is 99. Give an int from 200 to"),
        ("LoaderError('x', status_code='404')", "2:30: LoaderError: the status is '404'."),
        ("ActionError('x', 404 if w else 1000)", "2:32: ActionError: the status is 1000."),
        ("ValidationActionError(fields={}, status_code=42)", "2:46: ValidationActionError: the"),
        ("redirect('/x', 200)", "2:16: redirect: the status is 200. Give one of 301, 302, 303,"),
        ("redirect('/x', status=True)", "2:23: redirect: the status is True."),
    ],
)
def test_a_status_that_no_response_can_have_is_reported_where_it_is_written(
    tmp_path: Path, call: str, problem: str
) -> None:
    names = "LoaderError, ActionError, ValidationActionError, redirect"
    text = f"from fx.runtime import {names}; w = 1\n{call}\n"
    project = check(tmp_path, {"pages/api/ping.py": text, "pages/index.fxl": UI})
    (found,) = project.problems
    assert found.head.removeprefix("pages/api/ping.py:").startswith(problem)


@pytest.mark.parametrize(
    "text",
    [
        "from mine import LoaderError\nLoaderError('x', 99)\n",
        "from .errors import redirect\nredirect('/x', 200)\n",
        "class ActionError(Exception): ...\nActionError('x', 99)\n",
        "def f(redirect): redirect('/x', 200)\n",
        "from fx.runtime import LoaderError\nLoaderError(*parts, 99)\n",
        "from fx.runtime import redirect\nredirect('/x', 307)\n",
    ],
)
def test_calls_of_others_by_the_same_name_are_left_alone(text: str) -> None:
    problems = [each for each in problems_of("parts = ()\n" + text + UI) if "status" in each]
    assert problems == []


def test_a_docstring_and_future_imports_may_come_first() -> None:
    text = (
        '"""Doc."""\nfrom __future__ import annotations\n@server\nasync def a(r: X): ...\nX = 1\n'
    )
    assert problems_of(text + UI) == []


@pytest.mark.parametrize("name", ["index", "layout", "error", "not-found", "loading", "template"])
def test_every_kind_of_page_file_needs_a_default_export(name: str) -> None:
    kind = "page" if name == "index" else name
    found = problems_of("x = 1\nconst a = 1\n", f"pages/{name}.fxl")
    assert found == [
        f"2:11: the {kind} has no default export. "
        "Write 'export default function Name(props) { … }'."
    ]


def test_an_empty_file_has_no_default_export() -> None:
    assert problems_of("")[0].startswith("1:1: the page has no default export")


def test_a_file_with_only_comments_in_its_python_has_no_server_code() -> None:
    assert check_page(read_text("# Hello\n" + UI, "pages/index.fxl"))[0].module.code is None


def test_names_are_not_checked_while_the_file_does_not_parse() -> None:
    assert len(problems_of("x = = 1\ny = x\n" + UI)) == 1


def test_warnings_about_code_stay_silent() -> None:
    assert problems_of("x = '\\d'\ny = x is 1\n" + UI) == []


PROBLEMS = [Problem("b.fxl", 1, 2, "odd", "Fix it"), Problem("a.fxl", 10, 1, 'é"', "Do")]


def test_problems_read_place_message_remedy() -> None:
    assert format_text(PROBLEMS) == 'a.fxl:10:1: é". Do.\nb.fxl:1:2: odd. Fix it.\n'
    assert format_text([]) == ""


def test_problems_for_editors_are_json() -> None:
    assert json.loads(format_json(PROBLEMS)) == {
        "problems": [
            place
            | {"message": message, "remedy": remedy, "frame": ""}
            | {"kind": "pages", "severity": "error"}
            for place, message, remedy in (
                ({"path": "a.fxl", "line": 10, "column": 1}, 'é"', "Do"),
                ({"path": "b.fxl", "line": 1, "column": 2}, "odd", "Fix it"),
            )
        ]
    }


def test_a_right_page_file_is_checked_again_only_when_its_text_is_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checked = []

    def counting(source: SourceText, *where: Any) -> tuple[CheckedPage, list[Problem]]:
        checked.append(source.path)
        return plain(source, *where)

    plain = check_page
    monkeypatch.setattr(file_checks, "check_page", counting)
    write_tree(tmp_path, {"pages/a.fxl": PAGE, "pages/b.fxl": "x = ("})
    memory = CheckedTexts()
    first = check_project(tmp_path, Config(), memory)
    write_tree(tmp_path, {"pages/a.fxl": f"n = 1\n\n{PAGE}", "pages/c.fxl": PAGE})
    second = check_project(tmp_path, Config(), memory)
    (tmp_path / "pages/a.fxl").unlink()
    memory.forget(["pages/a.fxl"])
    write_tree(tmp_path, {"pages/a.fxl": PAGE})
    third = check_project(tmp_path, Config(), memory)

    assert [one for one in checked if one != "pages/b.fxl"] == [
        *("pages/a.fxl", "pages/a.fxl", "pages/c.fxl", "pages/a.fxl")
    ]
    assert checked.count("pages/b.fxl") == 3  # what is wrong may be another module
    assert first.problems == second.problems == check_project(tmp_path, Config()).problems
    assert second.pages[0].python.startswith("n = 1")
    assert third == check_project(tmp_path, Config())


def test_a_text_that_is_restored_is_not_checked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    checked = []

    def counting(source: SourceText, *where: Any) -> tuple[CheckedPage, list[Problem]]:
        checked.append(source.text)
        return plain(source, *where)

    plain = check_page
    monkeypatch.setattr(file_checks, "check_page", counting)
    memory = CheckedTexts()
    edited = f"n = 1\n\n{PAGE}"
    for text in (PAGE, edited, PAGE, edited, PAGE):
        assert memory.check_page(read_text(text, "pages/a.fxl")) == plain(
            read_text(text, "pages/a.fxl")
        )

    assert checked == [PAGE, edited]


def test_a_wrong_text_that_is_restored_is_checked_with_the_modules_of_now(tmp_path: Path) -> None:
    write_tree(tmp_path, {"rules.py": "a = 1\n"})
    memory = CheckedTexts()

    def found(text: str) -> list[str]:
        _, problems = memory.check_page(read_text(text, "pages/a.fxl"), tmp_path)
        return [problem.message for problem in problems]

    wrong = f"from rules import b\n\nn = b + c\n\n{PAGE}"
    found(PAGE)
    assert found(wrong) == ["'rules' has no 'b'", "undefined name 'c'"]
    assert found(PAGE) == []
    write_tree(tmp_path, {"rules.py": "a = 1\nb = 2\n"})
    assert found(wrong) == ["undefined name 'c'"]
    write_tree(tmp_path, {"rules.py": "a = 1\nd = 2\n"})
    assert found(wrong) == ["'rules' has no 'b'", "undefined name 'c'"]  # though nothing is saved


def test_a_wrong_page_is_read_again_with_any_other(tmp_path: Path) -> None:
    wrong = f"from rules import b\n\nn = b + c\n\n{PAGE}"
    write_tree(tmp_path, {"rules.py": "a = 1\n", "pages/a.fxl": wrong, "pages/b.fxl": PAGE})
    memory = CheckedTexts()

    def found() -> list[str]:
        project = check_project(tmp_path, Config(), memory, changed=["pages/b.fxl"])
        return [problem.message for problem in project.problems]

    assert found() == ["'rules' has no 'b'", "undefined name 'c'"]
    write_tree(tmp_path, {"rules.py": "a = 1\nb = 2\n"})
    assert found() == ["undefined name 'c'"]


def test_a_file_that_cannot_be_read_is_not_the_page_that_it_was(tmp_path: Path) -> None:
    page = tmp_path / "pages/index.fxl"
    page.parent.mkdir()
    page.write_text("export default () => <p>Home</p>;\n")
    memory = CheckedTexts()
    assert check_project(tmp_path, Config(), memory).problems == ()

    page.write_bytes(b"export default () => <p>caf\xe9</p>;\n")
    assert len(check_project(tmp_path, Config(), memory).problems) == 1
    assert len(check_project(tmp_path, Config(), memory, changed=()).problems) == 1


def test_python_that_was_right_is_checked_again_only_when_it_is_another(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    checked = []

    def counting(*arguments: Any) -> list[Problem]:
        checked.append(arguments[1].strip())
        return plain(*arguments)

    plain = file_checks._check_code
    monkeypatch.setattr(file_checks, "_check_code", counting)
    memory = CheckedTexts()

    def found(text: str) -> list[str]:
        page, problems = memory.check_page(read_text(text, "pages/a.fxl"))
        assert (page, problems) == check_page(read_text(text, "pages/a.fxl"))
        return [problem.message for problem in problems]

    right, wrong = "VALUE = 1\n\n\n", "VALUE = one\n\n\n"
    for text in (right, f"{right}const more = 1;\n", wrong, f"{wrong}const more = 1;\n", right):
        assert len(found(text + UI)) == (text.startswith(wrong))
    # Without memory each is checked, and with it all but the second.
    assert checked == ["VALUE = 1"] * 3 + ["VALUE = one"] * 4 + ["VALUE = 1"] * 2


@pytest.mark.parametrize("mark", ["", "@server\n"])
def test_the_server_half_is_not_read_again_for_another_client_half(
    mark: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    python = f"{mark}async def load(request):\n    return {{}}\n\n\n"
    uses_data = "export default ({ data }) => <p>{data.a}</p>;\n"
    expected = [check_page(read_text(python + ui, "pages/a.fxl")) for ui in (UI, uses_data, "x;\n")]
    memory = CheckedTexts()
    memory.check_page(read_text(python + UI, "pages/a.fxl"))
    monkeypatch.setattr(file_checks, "read_facts", None)
    found = [memory.check_page(read_text(python + ui, "pages/a.fxl")) for ui in (UI, uses_data)]
    assert found == expected[:2]
    assert len(found[1][1]) == (not mark)
    if mark:
        assert memory.check_page(read_text(f"{python}x;\n", "pages/a.fxl")) == expected[2]
