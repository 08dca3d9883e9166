"""Names without an import."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from fxtrio.cli import main
from tests.contract.projects import open_pages, problems_of, write_pages
from tests.contract.rules import rule

WITH_LOADER = {"server", "LoaderError"}
WITH_ACTION = {"action", "ActionError", "ValidationActionError", "invalidate_routes"}
NAMES = sorted(WITH_LOADER | WITH_ACTION)

SEE = f"""
    import fx.runtime as rt

    def seen():
        names = {NAMES!r}
        return {{name: globals()[name] is getattr(rt, name) for name in names if name in globals()}}
"""
LOADER = """
    @server
    async def load(request):
        return seen()
"""
ACTION = """
    @action
    async def look(request):
        return seen()
"""

OWN_FORMS = {
    "class": "class {name}(Exception): pass",
    "function": "def {name}(*args): pass",
    "import": "from tests.contract.own import {name}",
    "import_alias": "from json import loads as {name}",
    "module_alias": "import json as {name}",
    "assignment": "{name} = 'mine'",
    "typed_assignment": "{name}: str = 'mine'",
    "unpacking": "({name}, other) = ('mine', 1)",
    "loop": "for {name} in ('mine',): pass",
    "condition": "if True: {name} = 'mine'",
    "attempt": "try: from json import loads as {name}\n    except ImportError: {name} = None",
    "not_type_checking": (
        "from typing import TYPE_CHECKING\n"
        "    if TYPE_CHECKING: from fx.runtime import {name}\n"
        "    else: {name} = 'mine'"
    ),
}
TYPING_ONLY = """
    from typing import TYPE_CHECKING

    if TYPE_CHECKING:
        from fx.runtime import {name}
"""


@rule("injection.with_loader")
async def test_injection_with_loader_gives_server_and_loader_error_and_no_more(
    tmp_path: Path,
) -> None:
    async with open_pages(tmp_path, SEE + LOADER) as client:
        page = await client.load_page("/")
    assert page.data == dict.fromkeys(WITH_LOADER, True)


@rule("injection.with_action")
async def test_injection_with_action_gives_its_four_names_and_no_more(tmp_path: Path) -> None:
    async with open_pages(tmp_path, SEE + ACTION) as client:
        result = await client.action("/", "look")
    assert result.data == dict.fromkeys(WITH_ACTION, True)


@rule("injection.with_loader", "injection.with_action")
async def test_injection_with_loader_and_action_gives_all_six(tmp_path: Path) -> None:
    async with open_pages(tmp_path, SEE + ACTION + LOADER) as client:
        page = await client.load_page("/")
    assert page.data == dict.fromkeys(WITH_LOADER | WITH_ACTION, True)


@rule("injection.with_loader", "injection.with_action")
async def test_injection_with_loader_or_action_missing_gives_nothing(tmp_path: Path) -> None:
    head = """
    def HEAD(data):
        return f"<title>{sorted(seen())}</title>"
    """
    async with open_pages(tmp_path, SEE + head) as client:
        page = await client.load_page("/")
    assert page.head == [[["title", {}, "[]"]]]


@rule("injection.with_loader")
async def test_injection_with_loader_leaves_docstring_and_future_imports_first(
    tmp_path: Path,
) -> None:
    text = '''
    """What the page is for."""
    from __future__ import annotations

    @server
    async def load(request: Unknown) -> Unknown:
        return {"doc": __doc__, "error": LoaderError.__name__}
    '''
    async with open_pages(tmp_path, text.replace("Unknown", "'LoaderError'")) as client:
        page = await client.load_page("/")
    assert page.data == {"doc": "What the page is for.", "error": "LoaderError"}


@rule("injection.1")
@pytest.mark.parametrize("form", OWN_FORMS)
async def test_injection_1_a_name_that_the_file_binds_is_not_replaced(
    tmp_path: Path, form: str
) -> None:
    marked = SEE + LOADER.replace("@server", "@rt.server") + ACTION.replace("@action", "@rt.action")
    files = {
        name.lower(): "    " + OWN_FORMS[form].format(name=name) + "\n" + marked for name in NAMES
    }
    assert problems_of(tmp_path, files) == []
    async with open_pages(tmp_path, files) as client:
        for name in NAMES:
            page = await client.load_page(f"/{name.lower()}")
            assert page.data == {each: each != name for each in NAMES}, name


@rule("injection.1")
@pytest.mark.parametrize("name", NAMES)
async def test_injection_1_an_import_for_type_checkers_alone_takes_nothing_away(
    tmp_path: Path, name: str
) -> None:
    text = TYPING_ONLY.format(name=name) + SEE + LOADER + ACTION
    assert problems_of(tmp_path, text) == []
    async with open_pages(tmp_path, text) as client:
        page = await client.load_page("/")
    assert page.data == dict.fromkeys(NAMES, True)


@rule("injection.1")
@pytest.mark.parametrize("name", ["server", "action"])
@pytest.mark.parametrize(
    "form",
    [
        "def {name}(function): return used.append('own') or function",
        "class {name}:\n        def __init__(self, function): used.append('own')",
        "{name} = lambda function: used.append('own')",
        "from tests.contract.own import mark as {name}\n    from tests.contract.own import used",
    ],
)
async def test_injection_1_a_decorator_of_the_file_marks_nothing(
    tmp_path: Path, name: str, form: str
) -> None:
    own = form.format(name=name)
    text = f"""
    used = []
    {own}

    @{name}
    async def load(request):
        return {{"secret": 1}}

    def HEAD(data):
        return f"<title>{{used}} {{data}}</title>"
    """
    async with open_pages(tmp_path, text) as client:
        page = await client.load_page("/")
        called = await client.action("/", "load")
    assert page.head == [[["title", {}, "['own'] {}"]]]
    assert (page.data, called.status) == ({}, 404)


@rule("injection.1")
async def test_injection_1_an_error_class_of_the_file_is_an_exception_like_any_other(
    tmp_path: Path,
) -> None:
    text = """
    class LoaderError(Exception):
        def __init__(self, message, status_code):
            super().__init__(message)

    @server
    async def load(request):
        raise LoaderError("mine", 418)
    """
    async with open_pages(tmp_path, text) as client:
        page = await client.load_page("/")
    assert (page.status, page.payload["type"]) == (500, "ServerError")


@rule("injection.2")
async def test_injection_2_every_name_may_be_imported(tmp_path: Path) -> None:
    line = (
        "    from fx.runtime import server, action, LoaderError, ActionError, "
        "ValidationActionError, invalidate_routes\n"
    )
    text = line + SEE + LOADER + ACTION
    assert problems_of(tmp_path, text) == []
    async with open_pages(tmp_path, text) as client:
        assert (await client.load_page("/")).data == dict.fromkeys(NAMES, True)
        assert (await client.action("/", "look")).ok


@rule("injection.2")
@pytest.mark.parametrize(
    ("imported", "prefix", "suffix"),
    [
        ("from fx.runtime import server as loads, action as does", "", ""),
        ("import fx.runtime", "fx.runtime.", ""),
        ("from fx import runtime as r", "r.", ""),
        ("from fxtrio.runtime import server, action", "", ""),
        ("from fx.runtime import *", "", "(timeout=5)"),
    ],
)
async def test_injection_2_imported_marks_work_under_any_name(
    tmp_path: Path, imported: str, prefix: str, suffix: str
) -> None:
    server, action = ("loads", "does") if "loads" in imported else ("server", "action")
    text = f"""
    {imported}

    @{prefix}{server}{suffix}
    async def load(request):
        return {{"loaded": True}}

    @{prefix}{action}{suffix}
    async def act(request):
        return {{"acted": True}}
    """
    async with open_pages(tmp_path, text) as client:
        assert (await client.load_page("/")).data == {"loaded": True}
        assert (await client.action("/", "act")).data == {"acted": True}


@rule("injection.3")
def test_injection_3_fx_check_reports_names_that_stay_undefined(tmp_path: Path) -> None:
    text = """
    @server
    async def load(request):
        if request.query_params:
            raise LoaderError("known")
        return {"total": totl, "sum": sum([1])}

    @action
    async def save(request):
        raise ActionError(missing)
    """
    write_pages(tmp_path, {"index": text})
    done = CliRunner().invoke(main, ["check", "--root", str(tmp_path)])
    assert done.exit_code == 1
    lines = [line for line in done.output.splitlines() if "undefined" in line]
    place = f"{tmp_path}/"  # a project elsewhere is named in full
    assert [
        line.removeprefix("error ").removeprefix(place).partition(". ")[0] for line in lines
    ] == [
        "pages/index.fxl:5:22: undefined name 'totl'",
        "pages/index.fxl:9:23: undefined name 'missing'",
    ]


@rule("injection.3")
@pytest.mark.parametrize(("mark", "missing"), [("server", WITH_ACTION), ("action", WITH_LOADER)])
def test_injection_3_names_that_are_not_injected_are_undefined(
    tmp_path: Path, mark: str, missing: set[str]
) -> None:
    used = ", ".join(NAMES)
    text = f"""
    @{mark}
    async def work(request):
        return dict(names=[{used}])
    """
    found = problems_of(tmp_path, text)
    for name in NAMES:
        reported = [line for line in found if f"undefined name {name!r}" in line]
        assert len(reported) == (name in missing), name
        assert all(f"Write 'from fx.runtime import {name}'" in line for line in reported)
