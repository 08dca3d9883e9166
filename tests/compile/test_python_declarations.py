"""What the Python half of a page file declares, and every mistake in that."""

from __future__ import annotations

import ast

import pytest

from fxtrio.compile.check.declarations import Facts
from fxtrio.compile.check.python_declarations import kind_of, read_facts
from fxtrio.compile.source import read_text

PAGE = "pages/index.fxl"


def read(text: str, path: str = PAGE) -> tuple[Facts, list[str]]:
    source = read_text(text, path)
    facts, problems = read_facts(source, ast.parse(source.text))
    return facts, [problem.head.removeprefix(f"{path}:") for problem in sorted(problems)]


def facts_of(text: str, path: str = PAGE) -> Facts:
    facts, problems = read(text, path)
    assert problems == []
    return facts


LOAD = "async def load(request): return {}\n"


@pytest.mark.parametrize(
    "head",
    [
        "@server\n",
        "@server()\n",
        "@server(timeout=2)\n",
        "from fx.runtime import server\n@server\n",
        "from fx.runtime import *\n@server\n",
        "from fxtrio.runtime import server as first\n@first(timeout=1)\n",
        "import fx.runtime\n@fx.runtime.server\n",
        "import fxtrio.runtime as rt\n@rt.server()\n",
        "from fx import runtime\n@runtime.server\n",
        "from fx import runtime as r\n@r.server\n",
        "from fx import runtime\nmark = runtime.server\n@mark\n",
        "try:\n    from fx.runtime import server\nexcept ImportError:\n    raise\n@server\n",
        "import cache\n@cache.keep\n@server\n",
        "@server\n# note\n@(lambda f: f)\n",
    ],
)
def test_a_loader_is_known_by_its_mark_whatever_its_name(head: str) -> None:
    assert facts_of(head + LOAD).loader == "load"


@pytest.mark.parametrize(
    "head",
    [
        "from mylib import server\n@server\n",
        "from .runtime import server\n@server\n",
        "import server\n@server.server\n",
        "def server(f): return f\n@server\n",
        "class server: pass\n@server\n",
        "server = print\n@server\n",
        "server: object = print\n@server\n",
        "for server in []: pass\n@server\n",
        "with open('x') as server: pass\n@server\n",
        "from fx.runtime import server\nserver = print\n@server\n",
        "from fx import tasks as runtime\n@runtime.server\n",
        "@app.server\n",
        "@get('server')\n",
        "",
    ],
)
def test_another_server_is_no_mark(head: str) -> None:
    assert facts_of(head + LOAD) == Facts()


def test_a_name_that_the_file_defines_further_down_is_still_the_mark_above() -> None:
    assert facts_of(f"@server\n{LOAD}def server(): pass\n").loader == "load"


def test_actions_are_listed_in_the_order_of_the_file() -> None:
    text = (
        "@action\nasync def b(request): ...\n"
        "@action(timeout=5, cancel_on_disconnect=True)\n"
        "async def a(request, body: Model = None): ...\n"
    )
    assert facts_of(text).actions == ("b", "a")


def test_hooks_are_functions_of_their_name() -> None:
    text = "async def websocket(ws): ...\ndef to_markdown(ctx): ...\n"
    facts = facts_of(text)
    assert (facts.websocket, facts.to_markdown) == (True, True)
    assert facts_of("async def to_markdown(ctx): ...").to_markdown is True


def test_paths_belong_to_pages_whose_urls_have_parameters() -> None:
    text = "async def paths(): ...\n"
    assert facts_of(text, "pages/[id].fxl").paths is True
    assert facts_of(text, "pages/[lang]/about.fxl").paths is True
    assert facts_of(text, "pages/about.fxl").paths is False
    assert facts_of(text, "pages/[id]/layout.fxl").paths is False
    assert facts_of("def paths(of): ...\n").paths is False


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("def paths(): ...", "1:5: 'paths' is not async. Write 'async def paths'."),
        ("async def paths(request): ...", "1:11: 'paths' has a parameter 'request' that nobody"),
        ("async def paths(): yield {}", "1:11: 'paths' has a yield. Return the whole value."),
        ("class paths: ...", "1:7: 'paths' is a class. Write 'async def paths()'."),
    ],
)
def test_paths_that_cannot_be_called_are_problems(text: str, problem: str) -> None:
    [found] = read(text, "pages/[id].fxl")[1]
    assert found.startswith(problem)


def test_an_import_of_a_hooks_name_is_no_hook() -> None:
    assert facts_of("import websocket\nto_markdown = 3\n") == Facts()


@pytest.mark.parametrize(
    ("value", "seconds"),
    [("60", 60.0), ("1.5", 1.5), ("60 * 60", 3600.0), ("60 / 4 + 1 - -2 // 1", 18.0)],
)
def test_cache_gives_seconds(value: str, seconds: float) -> None:
    assert facts_of(f'CACHE = {{"revalidate": {value}}}').revalidate == seconds


@pytest.mark.parametrize(
    "value",
    [
        "60",
        '{"revalidate": True}',
        '{"revalidate": "1"}',
        '{"revalidate": 0}',
        '{"ttl": 1}',
        "{}",
        '{"revalidate": 1, "x": 2}',
        '{"revalidate": n}',
        '{"revalidate": 1 / 0}',
        "None",
        '{"revalidate": 1e999}',
        '{"revalidate": -1}',
        '{**x, "revalidate": 1}',
        "{[]: 1}",
    ],
)
def test_another_cache_is_rejected(value: str) -> None:
    assert read(f"x = 1\nCACHE = {value}")[1] == [
        "2:9: CACHE is not a dict with 'revalidate' in seconds above 0. "
        'Write CACHE = {"revalidate": 60}.'
    ]


def test_flags_are_true_or_false() -> None:
    assert facts_of("MEMO = False").memo is False
    assert facts_of("STANDALONE = True", "pages/a/layout.fxl").standalone is True
    assert facts_of("MEMO: bool = True") == Facts()
    assert read("MEMO = 0")[1] == ["1:8: MEMO is not True or False. Write one of them."]


@pytest.mark.parametrize(
    "value",
    [
        '"<title>T</title>"',
        '["<title>T</title>"]',
        '("<title>T</title>",)',
        '"<title>" "T</title>"',
        '"<title>" + "T" + "</title>"',
        'f"<title>T</title>"',
        '"""\n<title>T</title>\n"""',
        '["<title>T"\n"</title>"]',
        '[] + ["<title>T</title>"]',
    ],
)
def test_a_static_head_is_read_from_literals(value: str) -> None:
    assert facts_of(f"HEAD = {value}").head == (["title", {}, "T"],)


@pytest.mark.parametrize(
    "value",
    [
        "1",
        "None",
        "{}",
        "[1]",
        "['<title>T</title>', None]",
        "b'x'",
        "make()",
        "f'{x}'",
        "x",
        "['a'] * 2",
        "'a' * 1000000000",
        "lambda data: ''",
        "['<base>', ['<base>']]",
    ],
)
def test_a_head_of_another_type_is_rejected(value: str) -> None:
    assert read(f"HEAD = {value}")[1] == [
        "1:8: HEAD is neither a str nor a list of str that can be read without running it. "
        "Write literals, or a function 'def HEAD(data)'."
    ]


def test_a_head_function_is_noted() -> None:
    assert facts_of("def HEAD(data): return ''").head_function is True


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("HEAD = '<p>'", "1:9"),
        ("HEAD = ['<title>T</title>',\n  '<title>T</title><p>']", "2:20"),
        ('HEAD = """\n<title>T</title>\n  <p>\n"""', "3:3"),
        ('é = 1\nHEAD = r"""<base>\né <p>"""', "2:18"),
        ("HEAD = 'é' '<p>'", "1:8"),
        (r"HEAD = '<base>\n<p>'", "1:8"),
        ('HEAD = "<base>" + "<p>"', "1:8"),
    ],
)
def test_what_a_head_must_not_hold_is_reported_at_its_place(text: str, place: str) -> None:
    problems = read(text)[1]
    assert len(problems) == 1
    assert problems[0].startswith(f"{place}: HEAD: ")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("@server\ndef load(request): ...", "2:5: @server 'load' is not async. Write 'async def"),
        ("@action\ndef save(request): ...", "2:5: @action 'save' is not async."),
        ("def websocket(ws): ...", "1:5: 'websocket' is not async."),
        ("@server\nasync def load(): ...", "2:11: @server 'load' has no parameter for the request"),
        ("@action\nasync def save(): ...", "2:11: @action 'save' has no parameter for the"),
        ("async def websocket(): ...", "1:11: 'websocket' has no parameter for the ws. Write"),
        ("def to_markdown(): ...", "1:5: 'to_markdown' has no parameter for the ctx."),
        ("def HEAD(): ...", "1:5: 'HEAD' has no parameter for the data. Write 'HEAD(data)'."),
        ("async def HEAD(data): ...", "1:11: 'HEAD' is async. Write 'def HEAD(data)'"),
        ("def HEAD(data): yield ''", "1:5: 'HEAD' has a yield. Return the whole value."),
        ("@server\nasync def load(r): yield 1", "2:11: @server 'load' has a yield."),
        (
            "@action(transaction=True)\nasync def save(r): yield 1",
            "2:11: @action 'save' has a yield and transaction=True,",
        ),
        (
            "@action(tool=True)\nasync def save(r): return {}",
            "2:11: @action 'save' has tool=True and no docstring,",
        ),
        ("@server\nasync def load(r, x): ...", "2:11: @server 'load' has a parameter 'x' that"),
        ("@server\nasync def load(*, r): ...", "2:11: @server 'load' has "),
        ("@action\nasync def save(r, b): ...", "2:11: @action 'save' has a parameter 'b' without"),
        ("@action\nasync def save(r, b: B, c): ...", "2:11: @action 'save' has a parameter 'c'"),
        (
            "@action\nasync def save(r, *, b): ...",
            "2:11: @action 'save' has a parameter 'b' without",
        ),
        (
            "@action\nasync def save(r, a: A, *, b: B): ...",
            "2:11: @action 'save' has a keyword-only",
        ),
        (
            "@action\nasync def save(r, *, a: A, b: B): ...",
            "2:11: @action 'save' has a keyword-only",
        ),
        ("@server\nasync def load(r, *, b: B): ...", "2:11: @server 'load' has a keyword-only"),
        ("async def websocket(ws):\n    origin_allowed(ws, ['*'])", "2:25: origin_allowed: '*'"),
        ("OK = ('x.y',)\norigin_allowed(1, OK)", "1:7: origin_allowed: 'x.y' is not an origin"),
        ("origin_allowed(1, ['https://*.x.y'])", "1:20: origin_allowed: 'https://*.x.y'"),
        (
            "@server\nasync def load(r): return {}, 999",
            "2:31: @server 'load': the status is 999. Give an int from 200 to 599, such as 404.",
        ),
        ("@server\nasync def load(r): return {}, 404 if r else True", "2:45: @server 'load': the"),
        ("@server\nasync def load(r):\n    if r:\n        return {}, '404'", "4:20: @server"),
        ("@server\nasync def load(r): return ({}, -1) if r else {}", "2:32: @server 'load'"),
        ("@server\n@action\nasync def x(r): ...", "3:11: 'x' is marked @server and @action."),
        ("load = server(fetch)", "1:8: server() is called as a function. Write '@server' above"),
        ("HEAD = ''\nHEAD += '<p>'", "2:1: HEAD is changed. Give it its whole value at once."),
        ("HEAD = ''\nHEAD = ''", "2:1: 'HEAD' is defined again and replaces the value of line 1."),
        ("def CACHE(): ...", "1:5: CACHE is a function. Give CACHE a literal value."),
        ("if x:\n    HEAD = ''", "2:5: HEAD is not at module level. Move it out of"),
        ("if x:\n    def HEAD(data): ...", "2:9: 'HEAD' is not at module level."),
        ("try:\n    async def websocket(ws): ...\nexcept E: ...", "2:15: 'websocket' is not at"),
        ("if x:\n    @server\n    async def load(r): ...", "3:15: @server 'load' is not at"),
        ("def f():\n    @server\n    async def load(r): ...", "3:15: @server 'load' is not at"),
        ("class A:\n    @action\n    async def save(r): ...", "3:15: @action 'save' is not at"),
        ("match x:\n    case 1:\n        @server\n        async def l(r): ...", "4:19: @server"),
    ],
)
def test_a_mistake_is_reported_with_its_place_and_a_remedy(text: str, problem: str) -> None:
    problems = read(text)[1]
    assert problems[0].startswith(problem)
    assert len(problems) == 1


@pytest.mark.parametrize(
    "body",
    [
        "return {}, 404",
        "return {}, HTTPStatus.NOT_FOUND",
        "return {}, status",
        "return {}, 404 if r else 599",
        "def f(): return {}, 999\n    return f()[0]",
        "return f({}, 999)",
    ],
)
def test_a_status_that_may_be_right_is_left_to_the_runtime(body: str) -> None:
    facts_of(f"@server\nasync def load(r):\n    {body}\n")
    facts_of("async def other(r): return {}, 999\n")


def test_a_second_loader_is_rejected() -> None:
    problems = read(f"@server\n{LOAD}\n@server\nasync def other(request): ...")[1]
    assert problems == [
        "5:11: 'other' is a second @server function, after 'load' in line 2. "
        "Load everything in one of them."
    ]


def test_a_second_loader_of_the_same_name_is_rejected() -> None:
    problems = read(f"@server\n{LOAD}@server\n{LOAD}")[1]
    assert problems == [
        "4:11: 'load' is a second @server function, after 'load' in line 2. "
        "Load everything in one of them.",
        "4:11: 'load' is defined again and replaces the @server function of line 2. "
        "Rename one of them.",
    ]


@pytest.mark.parametrize(
    "again",
    [
        "@action\nasync def save(request): ...",
        "def save(): ...",
        "class save: ...",
        "import save",
        "from x import y as save",
        "save = 1",
        "save, x = 1, 2",
        "for save in []: ...",
        "if x:\n    save = 1",
    ],
)
def test_a_definition_that_replaces_an_action_is_rejected(again: str) -> None:
    problems = read(f"@action\nasync def save(request): ...\n{again}")[1]
    assert len(problems) == 1
    assert "'save' is defined again and replaces the @action function of line 2" in problems[0]


def test_a_local_name_in_a_function_is_no_mark() -> None:
    text = "def f(server):\n    @server\n    async def load(r): ...\n    return load\n"
    assert facts_of(text) == Facts()


def test_all_mistakes_are_reported_at_once() -> None:
    text = (
        "HEAD = 1\n@server\ndef load(): ...\n@action\nasync def a(): ...\nCACHE = []\n"
        "@action\n@server\nasync def b(r): ...\nMEMO = 'no'\n"
    )
    lines = [int(problem.split(":")[0]) for problem in read(text)[1]]
    assert lines == [1, 3, 3, 5, 6, 9, 10]


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("pages/index.fxl", "page"),
        ("pages/a/layout.fxl", "layout"),
        ("pages/template.fxl", "template"),
        ("pages/not-found.fxl", "not-found"),
        ("pages/error.fxl", "error"),
        ("pages/loading.fxl", "loading"),
        ("pages/layouts.fxl", "page"),
        ("layout.fxl", "layout"),
    ],
)
def test_the_name_of_a_file_says_what_kind_it_is(path: str, kind: str) -> None:
    assert kind_of(path) == kind


@pytest.mark.parametrize(
    ("text", "kind", "problem"),
    [
        ("@action\nasync def a(r): ...", "layout", "2:11: @action has no effect in layout files."),
        ("async def websocket(ws): ...", "error", "1:11: websocket has no effect in error files."),
        ("def to_markdown(ctx): ...", "template", "1:5: to_markdown has no effect in template"),
        ("CACHE = {'revalidate': 1}", "not-found", "1:9: CACHE has no effect in not-found"),
        ("STANDALONE = True", "index", "1:14: STANDALONE has no effect in page files."),
        ("@server\n" + LOAD, "loading", "2:11: @server has no effect in loading files."),
    ],
)
def test_what_has_no_effect_in_a_kind_of_file_is_rejected(
    text: str, kind: str, problem: str
) -> None:
    problems = read(text, f"pages/{kind}.fxl")[1]
    assert len(problems) == 1
    assert problems[0].startswith(problem)


def test_a_layout_may_load_and_have_a_head() -> None:
    facts = facts_of(f"HEAD = '<base>'\nMEMO = False\n@server\n{LOAD}", "pages/layout.fxl")
    assert facts.loader == "load"
