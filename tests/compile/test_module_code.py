"""What is wrong with modules that pages use is named where it stands: syntax, foreign code."""

from __future__ import annotations

from pathlib import Path

import pytest

from fxtrio.compile.check.module_code import module_problems
from fxtrio.compile.check.problem_kinds import FindingKind
from fxtrio.compile.project import check_project
from fxtrio.config import load_config
from tests.trees import page, write_tree

LOADER = "@server\nasync def load(request):\n    return {'x': store.read()}\n"
USING = page(f"import store\n\n{LOADER}")


def heads_of(
    root: Path, files: dict[str, str], kind: FindingKind = FindingKind.FOREIGN
) -> list[str]:
    write_tree(root, files)
    config = load_config(root)
    found = module_problems(root, config, check_project(root, config))
    assert all(one.kind is kind for one in found)
    return [one.head for one in found]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("from pyxle_db import get_database", "1:22: 'pyxle_db' is not a module"),
        (
            "def f():\n    from pyxle_mail import get_mail_service",
            "2:28: 'pyxle_mail' is not a module",
        ),
        ("from pyxle.tasks import enqueue", "1:25: 'pyxle.tasks' is not a module"),
        ("import asyncio\nlock = asyncio.Lock()", "2:8: 'asyncio.Lock' does not work here"),
        ("import asyncio\nasync def f():\n    await asyncio.sleep(1)", "3:11: 'asyncio.sleep'"),
        (
            "def f(request):\n    request.state.cookies.set('a', 'b')",
            "2:5: 'request.state.cookies'",
        ),
    ],
)
@pytest.mark.parametrize("deep", [False, True])
def test_modules_that_pages_use_are_looked_at(
    tmp_path: Path, line: str, problem: str, deep: bool
) -> None:
    files = {"pages/index.fxl": USING, "store.py": f"{line}\n"}
    if deep:
        files["store.py"] = "from lib.data import read\n"
        files["lib/data.py"] = "from . import inner\n"
        files["lib/inner.py"] = f"{line}\n"
    [found] = heads_of(tmp_path, files)
    assert found.startswith(f"{'lib/inner' if deep else 'store'}.py:{problem}")


@pytest.mark.parametrize(
    ("name", "home"),
    [("NotFound", "fx.runtime"), ("enqueue", "fx.tasks"), ("channel", "fx.realtime")],
)
def test_a_name_of_the_framework_that_a_module_does_not_import_has_its_import_as_remedy(
    tmp_path: Path, name: str, home: str
) -> None:
    files = {"pages/index.fxl": USING, "store.py": f"def read():\n    return {name}('x'), _('y')\n"}
    write_tree(tmp_path, files)
    config = load_config(tmp_path)
    [found] = module_problems(tmp_path, config, check_project(tmp_path, config))
    assert str(found) == (
        f"store.py:2:12: undefined name {name!r}. Write 'from {home} import {name}'."
    )
    (tmp_path / "store.py").write_text(f"from {home} import {name}\n\n{files['store.py']}")
    assert module_problems(tmp_path, config, check_project(tmp_path, config)) == []


@pytest.mark.parametrize(
    "files",
    [
        {"unused.py": "import asyncio\nlock = asyncio.Lock()\n"},
        {"store.py": "import asyncio\n\ndef read():\n    return asyncio.run(asyncio.sleep(0))\n"},
        {"store.py": "from pyxle_db import connect\n", "pyxle_db.py": "connect = 1\n"},
        {"store.py": "import asyncio\nfrom fx.asyncio import portal\nlock = asyncio.Lock()\n"},
        {
            "store.py": "from fx.asyncio import portal\nimport inner\n",
            "inner.py": "import asyncio\nlock = asyncio.Lock()\n",
        },
        {"store.py": "import store, pages, nothing\nfrom ... import x\nfrom .. import y\n"},
    ],
)
def test_what_may_well_work_is_left_alone(tmp_path: Path, files: dict[str, str]) -> None:
    assert heads_of(tmp_path, {"pages/index.fxl": USING, **files}) == []


def test_modules_that_the_settings_name_are_looked_at(tmp_path: Path) -> None:
    found = heads_of(
        tmp_path,
        {
            "pages/index.fxl": page(""),
            "fx.config.json": '{"routeMiddleware": {"pages": ["guards.hooks.check"]}}',
            "guards/hooks.py": "import asyncio\nasync def check(r):\n    await asyncio.sleep(1)\n",
            "app.py": "from pyxle.plugins import plugin\n",
        },
    )
    assert [one.partition(": ")[0] for one in found] == ["app.py:1:27", "guards/hooks.py:3:11"]


RETURNED = {
    "return {'data': {'x': 1}, 'revalidate': 60}": "60",
    "return {'revalidate': AGE, 'data': found}, 404": "AGE",
}


@pytest.mark.parametrize("line", RETURNED)
def test_an_envelope_of_a_loader_is_named(tmp_path: Path, line: str) -> None:
    python = f"AGE = 3\n@server\nasync def load(request):\n    found = {{}}\n    {line}\n"
    column = 12
    assert heads_of(tmp_path, {"pages/index.fxl": page(python)}) == [
        f"pages/index.fxl:5:{column}: the page gets both as its data: 'data' and 'revalidate' are "
        "keys like others. Return the data itself, and write CACHE = "
        f"{{'revalidate': {RETURNED[line]}}}."
    ]


@pytest.mark.parametrize(
    "line",
    [
        "return {'data': 1}",
        "return {'data': 1, 'revalidate': 2, 'x': 3}",
        "return {**x, 'data': 1}",
    ],
)
def test_other_keys_are_those_of_the_page(tmp_path: Path, line: str) -> None:
    python = f"x = {{}}\n\n@server\nasync def load(request):\n    {line}\n"
    assert heads_of(tmp_path, {"pages/index.fxl": page(python)}) == []


def test_an_action_may_return_such_keys(tmp_path: Path) -> None:
    python = "@action\nasync def save(request):\n    return {'data': 1, 'revalidate': 2}\n"
    assert heads_of(tmp_path, {"pages/index.fxl": page(python)}) == []


def test_cookies_of_an_action_are_named_with_what_sets_them(tmp_path: Path) -> None:
    python = (
        "@action\nasync def save(request):\n    request.state.cookies.set('a', 'b')\n"
        "    request.state.cookies.delete('b')\n    return {}\n"
    )
    assert heads_of(tmp_path, {"pages/index.fxl": page(python)}) == [
        "pages/index.fxl:3:5: 'request.state.cookies' is not set here. "
        "Write request.state.response.set_cookie(…).",
        "pages/index.fxl:4:5: 'request.state.cookies' is not set here. "
        "Write request.state.response.delete_cookie(…).",
    ]


BROKEN = "def read(:\n    return 1\n"


@pytest.mark.parametrize(
    "files",
    [
        {"pages/index.fxl": USING},
        {
            "pages/index.fxl": USING.replace("import store", "import near"),
            "near.py": "import store",
        },
        {
            "pages/index.fxl": page(""),
            "pages/api/a.py": "import store\nasync def get(request): ...\n",
        },
        {"pages/index.fxl": page(""), "fx.config.json": '{"middleware": ["store:Timing"]}'},
    ],
)
def test_a_module_that_does_not_parse_is_an_error_wherever_it_is_used(
    tmp_path: Path, files: dict[str, str]
) -> None:
    found = heads_of(tmp_path, {**files, "store.py": BROKEN}, FindingKind.CODE)
    assert [one.partition(". ")[0] for one in found] == [
        "store.py:1:10: broken Python: invalid syntax"
    ]


def test_a_module_that_parses_and_cannot_be_compiled_is_one_too(tmp_path: Path) -> None:
    files = {"pages/index.fxl": USING, "store.py": "return 1\n"}
    [found] = heads_of(tmp_path, files, FindingKind.CODE)
    assert found.startswith("store.py:1:1: broken Python: 'return' outside function")


@pytest.mark.parametrize("text", [BROKEN.encode(), "# coding: latin-1\nü = 1\n".encode("latin-1")])
def test_modules_that_nothing_uses_or_that_are_no_utf_8_are_left_alone(
    tmp_path: Path, text: bytes
) -> None:
    used = b"coding" in text
    (tmp_path / "store.py").write_bytes(text)
    assert heads_of(tmp_path, {"pages/index.fxl": USING if used else page("")}) == []


def test_endpoints_and_app_are_reported_once(tmp_path: Path) -> None:
    endpoint = {"pages/index.fxl": page(""), "pages/api/a.py": BROKEN}
    assert heads_of(tmp_path / "a", endpoint) == []  # it is among the problems of the project
    app = {"pages/index.fxl": page(""), "app.py": BROKEN}
    assert len(heads_of(tmp_path / "b", app, FindingKind.CODE)) == 1
