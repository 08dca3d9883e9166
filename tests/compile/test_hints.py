"""Remedies for what belongs to the other half, to another framework, or to asyncio."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest

from fxtrio.compile.file_checks import check_page
from fxtrio.compile.source import read_text
from fxtrio.compile.split import suggestions

UI = "\nexport default function Page() { return null }\n"


def problems_of(text: str) -> list[str]:
    return [problem.head for problem in check_page(read_text(text + UI, "pages/index.fxl"))[1]]


@pytest.mark.parametrize(
    ("line", "remedy"),
    [
        ("return {'ok': true}", "undefined name 'true'. Write 'True'."),
        ("return null", "undefined name 'null'. Write 'None'."),
        ("console.log(1)", "undefined name 'console'. Write 'print'."),
        ("return window.x", "undefined name 'window'. It is a name of the browser: use it in"),
        ("raise LoadError('x')", "Define or import it, or write 'LoaderError'."),
        ("// a comment", "A comment begins with '#' in the server half."),
        ("return f'{a['b']}'", "Give the value in the braces a name in front of it, or run"),
        ("await asyncio.sleep(1)", "'asyncio.sleep' does not work here: the server runs on trio."),
        ("asyncio.create_task(x())", "Write a nursery: trio.open_nursery(), or fx.tasks.enqueue"),
    ],
)
def test_words_of_elsewhere_are_recognised(line: str, remedy: str) -> None:
    text = f"import asyncio\n\nx = 1\na = {{}}\n\n@server\nasync def load(request):\n    {line}\n"

    if "f'" in line and not problems_of(text):  # nested quotes are fine since Python 3.12
        return
    [problem] = problems_of(text)
    assert remedy in problem
    assert problem.startswith("pages/index.fxl:8:")


def test_a_name_of_the_framework_comes_with_its_module() -> None:
    text = f"from fx.tasks import enque\n\nx = enqueue\n{UI}"

    *_, problem = check_page(read_text(text, "pages/index.fxl"), Path())[1]
    assert str(problem).endswith("undefined name 'enqueue'. Write 'from fx.tasks import enqueue'.")
    for name, module in suggestions.HOMES.items():
        assert hasattr(import_module(module), name)


@pytest.mark.parametrize("name", ["Server", "loader", "SERVER"])
def test_decorators_of_other_names_lead_to_server(name: str) -> None:
    [problem] = problems_of(f"@{name}\nasync def load(request):\n    return {{}}\n")

    assert problem == f"pages/index.fxl:1:2: undefined name {name!r}. Write 'server'."


@pytest.mark.parametrize(
    ("imports", "call", "place"),
    [
        ("import asyncio as aio", "aio.sleep(1)", "5:11"),
        ("from asyncio import sleep", "sleep(1)", "1:21"),
        ("from asyncio import sleep as rest", "rest(1)", "1:21"),
    ],
)
def test_asyncio_is_recognised_under_other_names(imports: str, call: str, place: str) -> None:
    text = f"{imports}\n\n@server\nasync def load(request):\n    await {call}\n    return {{}}\n"

    assert problems_of(text) == [
        f"pages/index.fxl:{place}: 'asyncio.sleep' does not work here: the server runs on trio. "
        "Write trio.sleep(…)."
    ]


@pytest.mark.parametrize(
    ("imports", "use", "offered"),
    [
        ("import shopp", "shop", None),
        ("import shop", "shopp", "shop"),
        ("import shop.parts", "shopp", "shop"),
        ("import nosuch as shopp", "shop", None),
        ("from nosuch import shopp", "shop", None),
        ("from fx.tasks import TaskQueues", "TaskQueueZ", None),
        ("from fx.tasks import enqueue", "enque", "enqueue"),
        ("from fx import runtime", "runtme", "runtime"),
        ("from fx import runtme", "runtim", None),
        ("from fx.taskss import enqueue", "enque", None),
        ("from shop import find_al", "find_all", None),
        ("from shop import find_all", "find_al", "find_all"),
        ("from shop import parts", "part", "parts"),
        ("from shop.parts import find_al", "find_all", None),
        ("from lazy import find_al", "find_all", "find_al"),
        ("from broken import find_al", "find_all", "find_al"),
        ("import trio", "trioo", "trio"),
    ],
)
def test_the_name_of_an_import_that_fails_is_not_offered(
    tmp_path: Path, imports: str, use: str, offered: str | None
) -> None:
    for name, text in {
        "shop/__init__.py": "def find_all(): ...\n",
        "shop/parts.py": "def find_all(): ...\n",
        "lazy.py": "def __getattr__(name): ...\n",
        "broken.py": "def = 1\n",
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    text = f"{imports}\n\nx = {use}.x\n{UI}"

    *_, problem = check_page(read_text(text, "pages/index.fxl"), tmp_path)[1]
    remedy = (
        "Define or import it" if offered is None else f"Define or import it, or write {offered!r}"
    )
    assert str(problem) == f"pages/index.fxl:3:5: undefined name {use!r}. {remedy}."


def test_imports_that_fail_are_reported_with_the_names_that_they_leave_undefined(
    tmp_path: Path,
) -> None:
    (tmp_path / "shop.py").write_text("def find_all(): ...\n")
    text = (
        "import shopp, trio\nfrom nosuch.parts import x\nfrom fx.tasks import enque\n"
        f"from shop import find_al\nfrom shop import zzz\nfrom fx.taskss import a\n\ny = shop\n{UI}"
    )

    found = check_page(read_text(text, "pages/index.fxl"), tmp_path)[1]
    assert [problem.head.removeprefix("pages/index.fxl:") for problem in found] == [
        "1:8: there is no module 'shopp'. Did you mean 'shop'?",
        "2:26: there is no module 'nosuch'. Install it, or correct its name.",
        "3:22: 'fx.tasks' has no 'enque'. Did you mean 'enqueue'?",
        "4:18: 'shop' has no 'find_al'. Did you mean 'find_all'?",
        "5:18: 'shop' has no 'zzz'. Import find_all.",
        "6:23: there is no module 'fx.taskss'. Did you mean 'fx.tasks'?",
        "8:5: undefined name 'shop'. Define or import it.",
    ]


def test_a_module_with_an_event_loop_of_its_own_may_use_asyncio() -> None:
    text = "import asyncio\n\nasync def work():\n    await asyncio.sleep(1)\n\n\ndef run():\n"

    assert problems_of(f"{text}    asyncio.run(work())\n") == []


def test_an_html_comment_is_recognised() -> None:
    found = check_page(read_text("export default () => <p><!-- x --></p>;\n", "pages/index.fxl"))[1]

    assert "Write a comment as {/* … */}." in str(found[0])


def test_code_for_the_asyncio_portal_may_use_asyncio() -> None:
    text = (
        "import asyncio\n\nfrom fx.asyncio import portal\n\n"
        "async def ask():\n    await asyncio.sleep(1)\n\n"
        "@server\nasync def load(request):\n    return await portal(ask)\n"
    )
    assert problems_of(text) == []
    assert len(problems_of(text.replace("fx.asyncio", "fx.portals"))) >= 1


@pytest.mark.parametrize(
    ("imports", "code", "messages"),
    [
        (
            "db",
            "db.all('')",
            ["4:12: 'fx.db' is a module without 'all'. Write 'from fx.db import db'."],
        ),
        (
            "tasks as t",
            "t.enqeue(f)",
            ["4:12: 'fx.tasks' is a module without 'enqeue'. Did you mean 'enqueue'?"],
        ),
        ("tasks", "tasks.enqueue(f)", []),
        ("db", "[db.all('') for db in (1,)]", []),
    ],
)
def test_what_a_module_of_the_framework_does_not_have(
    imports: str, code: str, messages: list[str]
) -> None:
    text = f"from fx import {imports}\n@server\nasync def load(request):\n    return {code}\n{UI}"
    found = check_page(read_text(text.replace("(f)", "(load)"), "pages/index.fxl"))[1]
    assert [problem.head.removeprefix("pages/index.fxl:") for problem in found] == messages


@pytest.mark.parametrize(
    ("code", "remedy"),
    [
        ("f(1, 2", "Write the bracket that closes '('."),
        ("x = 1)", "Remove ')', or write the bracket that it closes."),
        ("x = (1]", "Close '(' before ']', or replace one of the two."),
        ("x = 'it's'", "Close the string; write a quote inside it as"),
        ("if x", "Write ':' here."),
        ("if x = 1:\n    pass", "Write '==', or assign in a line above."),
        ("x = [1 2]", "Write a comma between the two."),
        ("def f():\n    x = 1\n  y = 2", "Align the line with one of the lines above it."),
        ("try:\n    pass\nx = 1", "Write 'except …:' or 'finally:' below the 'try'."),
        ("print 'a'", "Write print(…)."),
        ("def f(a=1, b): pass", "Move parameters with a default to the end, or write '*'"),
        ("return 1", "Move 'return' into a function."),
        ("break", "Move 'break' into a loop."),
        ("f(a=1, a=2)", "Remove one of the two."),
        ("1 = x", "Write '==', or assign in a line above."),
        ("del f()", "Put a name, an attribute or an item there."),
        ("x = “a”", "Type the character again, with a plain keyboard."),
        ("if !x:\n    pass", "Write 'not' in place of '!'."),
        ("x = new Foo()", "Leave out 'new': a class is called like a function."),
        ("import x from y", "Write 'from module import name'."),
        ("else:\n    pass", "Write 'else' directly below the block of its 'if', as far"),
        ("def class(): pass", "'class' is a word of Python's own: take another name"),
        ("x = ", "Complete the statement: something is missing after '='."),
        ("raise X, 'a'", "Write what is missing between 'X' and ',', or remove ','."),
    ],
)
def test_python_that_does_not_parse_comes_with_a_remedy_of_its_own(code: str, remedy: str) -> None:
    first, *_ = problems_of(f"x = 1\n{code}\n\n")

    assert first.startswith("pages/index.fxl:")
    assert f". {remedy}" in first


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (
            "from fxtrio import server",
            "'fxtrio' has no 'server'. Write 'from fx.runtime import server'.",
        ),
        ("from fxtrio import db", "'fxtrio' has no 'db'. Write 'from fx.db import db'."),
        (
            "from fxtrio import subscribe",
            "'fxtrio' has no 'subscribe'. Write 'from fx.realtime import subscribe'.",
        ),
        (
            "from fxtrio import testing",
            "'fxtrio' has no 'testing'. Write 'from fx import testing'.",
        ),
        ("from fxtrio import jobs", "'fxtrio' has no 'jobs'. Write 'from fx import jobs'."),
        ("from fx import job", "'fx' has no 'job'. Write 'from fx.jobs import job'."),
        ("from fx.db import annotations", "'fx.db' has no 'annotations'. Import one of "),
        ("from fxtrio.runtime import inspect", "'fxtrio.runtime' has no 'inspect'. Import one of "),
        ("from fxtrio.plugins.auth import plugin", ""),
        ("from fxtrio.plugins import Plugin, auth", ""),
        ("from fxtrio import create_app, plugins, __version__, __file__", ""),
        ("from fx.db import __name__ as name", ""),
        ("from fx.databases import __file__", "there is no module 'fx.databases'"),
        ("from fx import db, testing, __version__", ""),
        ("from fx.testing import open_app, simulate", ""),
        ("from fxtrio.errors import FxtrioError", ""),
    ],
)
def test_only_what_the_framework_offers_can_be_imported(line: str, expected: str) -> None:
    text = f"{line}\n\nif True:\n    from fxtrio import nothing\n"
    found = [one.partition(": ")[2][: len(expected)] for one in problems_of(text)]
    assert found == ([expected] if expected else [])


def test_an_f_string_whose_value_has_no_end_is_a_problem() -> None:
    found = problems_of('x = f"{a"\n')
    assert found[0].endswith("Write '}' after the value.")


def test_what_a_module_of_the_framework_lacks_is_reported_with_its_home(tmp_path: Path) -> None:
    text = (
        "from fx import server\nimport fx.runtim\nfrom fx.runtime import redirct as go\n"
        "import fx.db, fxtrio.app\nfrom fx.testing import *\n"
        "try:\n    from fx.tasks import newer\nexcept ImportError:\n    newer = None\n"
        "try:\n    from fx.tasks import other\nexcept* ImportError:\n    other = None\n"
        "from contextlib import suppress\n"
        "with suppress(ImportError):\n    from fx.jobs import more\n"
        "if fxtrio.app.version > 99:\n    from fx.jobs import later\n\n"
        f"y = (server, fx, go, fxtrio, newer, other, more, later)\n{UI}"
    )

    found = check_page(read_text(text, "pages/index.fxl"), tmp_path)[1]
    assert [problem.head.removeprefix("pages/index.fxl:") for problem in found] == [
        "1:16: 'fx' has no 'server'. Write 'from fx.runtime import server'.",
        "2:8: there is no module 'fx.runtim'. Did you mean 'fx.runtime'?",
        "3:24: 'fx.runtime' has no 'redirct'. Did you mean 'redirect'?",
    ]
