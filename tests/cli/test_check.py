"""`fx check` finds what would keep the app from starting, by importing it in a process apart."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import trio
from click.testing import CliRunner

from fxtrio.cli import main
from fxtrio.cli.import_check.messages import Findings, Order
from fxtrio.cli.import_check.process import order_of, try_application
from fxtrio.compile.project import check_project
from fxtrio.config import read_config
from tests.trees import page

UI = "\nexport default function Page() {\n  return <p>x</p>;\n}\n"


@pytest.fixture(autouse=True)
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DATABASE_URL", raising=False)
    return tmp_path


def write(files: dict[str, str]) -> None:
    for name, text in files.items():
        path = Path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def order(root: Path, *, app: str = "", timeout: float = 20.0) -> Order:
    config = read_config(root)[0]
    project = check_project(root, config)
    return order_of(root, project, config, app=app, timeout=timeout)


async def findings(root: Path, *, app: str = "", timeout: float = 20.0) -> Findings:
    with trio.fail_after(60):
        return await try_application(order(root, app=app, timeout=timeout))


async def problems(root: Path, *, app: str = "", timeout: float = 20.0) -> list[str]:
    found = await findings(root, app=app, timeout=timeout)
    return sorted(problem.head for problem in found.problems)


async def settings(root: Path, files: dict[str, str], **config: object) -> list[str]:
    write({"pages/index.fxl": UI, "fx.config.json": json.dumps(config), **files})
    found = await findings(root)
    return [f"{one.key} {one.cause}" for one in found.settings]


async def test_a_project_without_mistakes_has_no_findings(root: Path) -> None:
    write(
        {
            "fx.config.json": json.dumps(
                {
                    "middleware": ["web:Timing"],
                    "routeMiddleware": {"pages": ["web.signed_in", "web:passed_on"]},
                    "plugins": ["auth"],
                    "llms": True,
                }
            ),
            "web.py": "import functools\n"
            "class Timing:\n"
            "    def __init__(self, app): self.app = app\n"
            "    async def __call__(self, scope, receive, send): ...\n"
            "async def signed_in(request): ...\n"
            "passed_on = functools.partial(signed_in)\n",
            "app.py": "from pathlib import Path\nfrom fxtrio.app import create_app\n"
            "app = create_app(Path(__file__).parent)\n",
            "pages/index.fxl": "import attrs\n\n@attrs.frozen\nclass Note:\n    text: str\n\n"
            "print('printed on import')\n\n"
            "@action\nasync def add(request, note: Note):\n    return {}\n" + UI,
            "pages/api/users.py": "async def get(request):\n    return {}\n",
            "pages/llms.py": "def llms_txt(ctx):\n    return None\n",
        }
    )

    assert await findings(root, app="app:app") == Findings()


async def test_imports_are_reported_at_the_line_that_is_to_blame(root: Path) -> None:
    write(
        {
            "database.py": "import socket\n\n\ndef connect():\n"
            "    raise ConnectionRefusedError(111, 'Connection refused')\n\n\nconnect()\n",
            "pages/a.fxl": "import database\n" + UI,
            "pages/b.fxl": "x = 1\nimport database\n" + UI,
            "pages/c.fxl": "import nosuch\n" + UI,
            "pages/d.fxl": "import going\n" + UI,
            "going.py": "from fx.runtime import redirct\n",
            "pages/e.fxl": "é = 1; y = {}['key']\n" + UI,
            "pages/f.fxl": "import os\n\nURL = os.environ['DATABASE_URL']\n" + UI,
            "pages/g.fxl": "import sys\nsys.exit('no')\n" + UI,
            "pages/h.fxl": "import broken\n" + UI,
            "broken.py": "x = 1\ny = = 2\n",
        }
    )

    start = "Start what it needs, or connect when the app starts and not on import: in a plugin."
    correct = "Fix this line: the app cannot start while it fails."
    assert await problems(root) == [
        f"broken.py:2:5: importing it fails: SyntaxError: invalid syntax (imported by "
        f"pages/h.fxl). {correct}",
        "database.py:5:5: importing it fails: ConnectionRefusedError: [Errno 111] Connection "
        f"refused (imported by pages/a.fxl, pages/b.fxl). {start}",
        "going.py:1:1: importing it fails: 'fx.runtime' has no 'redirct' (imported by "
        "pages/d.fxl). Did you mean 'redirect'?",
        "pages/c.fxl:1:1: importing it fails: there is no module 'nosuch'. Install it, or "
        "correct its name.",
        f"pages/e.fxl:1:12: importing it fails: KeyError: 'key'. {correct}",
        "pages/f.fxl:3:7: importing it fails: the environment variable 'DATABASE_URL' is not "
        "set. Set it for commands of fx, too.",
        "pages/g.fxl:2:1: importing it fails: it exits the process with 'no'. Do not exit the "
        "process on import.",
    ]


async def test_modules_that_cannot_be_found_are_looked_for(root: Path) -> None:
    write(
        {
            "pages/a.fxl": "from . import helper\n" + UI,
            "pages/b.fxl": "import helper\n" + UI,
            "pages/c.fxl": "import marks\n" + UI,
            "pages/d.fxl": "import parts\n" + UI,
            "marks.py": "from fx import server\n",
            "parts.py": "import fx.server\n",
            "pages/helper.py": "",
        }
    )

    assert [line.partition("importing it fails: ")[2] for line in await problems(root)] == [
        "'fx' has no 'server' (imported by pages/c.fxl). Write 'from fx.runtime import server'.",
        "a page is not part of a package, so relative imports do not work in it. Write 'import "
        "name' for a module of the project folder.",
        "there is no module 'helper'. Modules are found from the project folder: write "
        "'pages.helper'.",
        "there is no module 'fx.server' (imported by pages/d.fxl). The framework has fx.runtime, "
        "fx.db, fx.jobs, fx.tasks, fx.realtime, fx.cache, fx.testing.",
    ]


async def test_the_bodies_of_actions_are_tried_each_for_itself(root: Path) -> None:
    write(
        {
            "pages/index.fxl": "@action\nasync def one(request, n: int):\n    return {}\n\n\n"
            "@action\nasync def two(request, body: list):\n    return {}\n\n\n"
            "@action\nasync def three(request):\n    return {}\n" + UI
        }
    )

    assert await problems(root) == [
        "pages/index.fxl:2:24: one(): 'n' has no body model. Annotate it with a pydantic model, "
        "an attrs class or a dataclass, or remove it.",
        "pages/index.fxl:7:24: two(): 'body' has no body model. Annotate it with a pydantic "
        "model, an attrs class or a dataclass, or remove it.",
    ]


async def test_an_import_that_hangs_does_not_hold_up_the_others(root: Path) -> None:
    write(
        {
            "pages/a.fxl": "import time\ntry:\n    time.sleep(60)\nexcept Exception:\n    pass\n"
            + UI,
            "pages/b.fxl": "import nosuch\n" + UI,
        }
    )

    first, second = await problems(root, timeout=0.2)
    assert first.startswith("pages/a.fxl:3:5: importing it fails: it takes longer than 0.2 s.")
    assert second.startswith("pages/b.fxl:1:1: importing it fails: there is no module 'nosuch'.")


async def test_an_import_that_kills_the_process_is_named(root: Path) -> None:
    code = "import os, sys\nprint('last words', file=sys.stderr)\nos._exit(7)\n"
    write({"pages/a.fxl": code + UI})

    [found] = await problems(root)
    assert found == (
        "pages/a.fxl: importing it ended the process with 7; it wrote: last words. "
        "Do such work in a plugin."
    )


async def test_an_import_that_cannot_be_interrupted_is_ended(root: Path) -> None:
    code = "import signal, time\nsignal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM])\n"
    write({"pages/a.fxl": code + "time.sleep(600)\n" + UI})

    with trio.fail_after(60):
        found = await try_application(order(root), limit=15.0)
    [problem] = found.problems
    assert str(problem).startswith("pages/a.fxl: importing it took longer than 15 s")


async def test_what_the_settings_name_is_imported_and_judged(root: Path) -> None:
    code = (
        "class Timing:\n    def __init__(self, app, limit): ...\n"
        "async def signed_in(request): ...\n"
        "def not_async(request): ...\n"
        "async def no_request(): ...\n"
        "value = 3\n"
    )
    found = await settings(
        root,
        {"web.py": code},
        translate="web.signed_in",
        middleware=["web.Timing", "web.signed_in", "web.value", "web.Timin", "nosuch.X"],
        routeMiddleware={
            "pages": ["web.not_async", "web.signed_in"],
            "actions": ["web.no_request", "web.value", "web.Timing"],
        },
        plugins=["athu", {"name": "auth", "settings": {"databse": "x"}}],
    )

    assert [line.split(" is ")[0].split(" must ")[0] for line in found] == [
        "middleware.0",
        "middleware.1",
        "middleware.2",
        "middleware.3",
        "middleware.4",
        "routeMiddleware.pages.0",
        "routeMiddleware.actions.0",
        "routeMiddleware.actions.1",
        "routeMiddleware.actions.2",
        "translate",
        "plugins.0.name",
        "plugins.1.settings.databse",
    ]
    messages = "\n".join(found)
    for part in (
        "cannot be called with the app alone",
        "an async function. Name a class of ASGI middleware",
        "Did you mean 'web.Timing'?",
        "No module named 'nosuch'",
        "which is not async. Write 'async def not_async'",
        "which is not a function without async",
        "Did you mean 'database'?",
    ):
        assert part in messages


def test_what_the_environment_of_the_server_may_set_fails_no_check(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("FX_DATABASE__URL", raising=False)
    config = {"plugins": [{"name": "jobs", "settings": {"guard": "web:guard"}}]}
    guard = "async def guard(request): ...\n"
    write({"pages/index.fxl": UI, "fx.config.json": json.dumps(config), "web.py": guard})

    checked = CliRunner().invoke(main, ["check", "--json"])

    assert checked.exit_code == 0
    [found] = json.loads(checked.stdout)["problems"]
    assert (found["kind"], found["severity"]) == ("environment", "warning")
    monkeypatch.setenv("FX_DATABASE__URL", "sqlite:///data/app.db")
    assert json.loads(CliRunner().invoke(main, ["check", "--json"]).stdout)["problems"] == []


async def test_settings_that_plugins_need_are_named(root: Path) -> None:
    code = (
        "from fxtrio.plugins import Plugin\n\n"
        "class Mine(Plugin):\n    name = 'mine'\n"
        "    def mistakes(self, resolve):\n        return {'url': 'is missing'}\n"
        "def guard(request): ...\n"
    )
    verifying = {"name": "auth", "settings": {"verifyEmail": True, "sendEmail": "web:post"}}
    messages = await settings(root, {"web.py": code}, plugins=["jobs", verifying, "web:Mine"])
    assert messages == [
        "plugins.0.settings.guard is needed, as 'auth' does not precede it in 'plugins'. "
        "Name a function that decides who may see the page",
        "plugins.0 needs 'database.url', which is not set here. "
        "Set it, here or where the app is served",
        "plugins.1.settings.sendEmail is 'web:post', which cannot be imported: "
        "module 'web' has no attribute 'post'",
        "plugins.1.settings.siteUrl is needed by 'verifyEmail', such as 'https://example.org'",
        "plugins.2.settings.url is missing",
    ]

    guarded = {"name": "jobs", "settings": {"guard": "web:guard"}}
    database = {"url": "sqlite:///data/app.db"}
    messages = await settings(root, {"web.py": code}, plugins=["auth", guarded], database=database)
    assert messages == ["plugins.1.settings.guard is 'web:guard', which is not async"]
    messages = await settings(root, {"web.py": code}, plugins=["auth", "jobs"], database=database)
    assert messages == [
        "plugins.1.settings.users is needed: the addresses of those who may see the page. "
        'Add "users": ["ada@example.org"] with yours'
    ]


async def test_a_shutdown_that_jobs_may_outlast_is_rejected(root: Path) -> None:
    [found] = await settings(root, {}, tasks={"drainTimeout": 60})

    assert found.startswith("tasks.drainTimeout is 60 s, and the whole shutdown may take 30 s.")


async def test_a_plugin_that_raises_is_reported_where_it_does(root: Path) -> None:
    write({"mine.py": "import os\n\nURL = os.environ['DATABASE_URL']\n"})
    assert await settings(root, {}, plugins=["mine.Plugin"]) == []

    [found] = await problems(root)
    assert found.startswith("mine.py:3:7: importing it fails: the environment variable")
    assert "(imported by fx.config.json)" in found


async def test_an_endpoint_must_be_able_to_answer(root: Path) -> None:
    cases = [
        ("def GET(request): ...", "it handles no request. Write 'async def get(request)', in"),
        ("def users(request): ...", "it handles no request. Write 'async def get(request)'."),
        ("def get(): ...", "'get' cannot be called with the request alone. Write"),
        ("class endpoint: ...", "'endpoint' is a class that is no HTTPEndpoint. Derive it"),
        (
            "from starlette.endpoints import HTTPEndpoint as E\nclass A(E): ...\nclass B(E): ...",
            "more than one definition serves this URL: 'A', 'B'. Keep one HTTPEndpoint class",
        ),
    ]
    write({f"pages/api/{number}.py": code for number, (code, _) in enumerate(cases)})

    for number, found in enumerate(await problems(root)):
        assert found.startswith(f"pages/api/{number}.py:1:1: {cases.pop(0)[1]}")
    assert cases == []


async def test_a_body_that_nothing_can_fill_is_reported_at_its_parameter(root: Path) -> None:
    python = """
        import socket

        import attrs


        @attrs.define
        class Body:
            name: str
            link: socket.socket


        @action
        async def save(request, body: Body):
            return {}


        @action(limit="300MB")
        async def send(request):
            return {}
        """
    write({"pages/index.fxl": page(python)})

    [typed, limited] = await problems(root)
    assert typed.startswith(
        "pages/index.fxl:13:25: save(): Body: 'link' (socket) is of a type that no body can have. "
        "Use str, int, float"
    )
    assert limited.startswith(
        "pages/index.fxl:18:1: send(): its limit of 300 MB is above limits.bodies (256 MiB)"
    )
    assert limited.endswith("Lower it, or raise the setting.")


@pytest.mark.parametrize(
    ("code", "problem"),
    [
        ("application = 3", "app.py: app:app: module 'app' has no attribute 'app'. Define it in"),
        ("import nosuch", "app.py:1:1: importing it fails: there is no module 'nosuch'."),
        (
            "from fxtrio.app import create_app\napp = create_app(__file__)",
            "app.py:2:7: importing it fails: app.py: is not a folder. Name the project's folder",
        ),
    ],
)
async def test_the_app_is_imported_too_without_a_build(root: Path, code: str, problem: str) -> None:
    write({"pages/index.fxl": UI, "app.py": code})

    [found] = await problems(root, app="app:app")
    assert found.startswith(problem)


@pytest.mark.node
def test_all_stages_are_reported_together_each_with_its_place(root: Path) -> None:
    write(
        {
            "fx.config.json": '{\n  "lang": 5,\n  "middleware": ["nosuch.X"]\n}',
            "pages/a.fxl": "import nosuch\n" + UI,
            "pages/b.fxl": "x = y\n" + UI,
            "pages/c.fxl": "const a = ;\n" + UI,
            "app.py": "app = nothing\n",
        }
    )

    result = CliRunner().invoke(main, ["check"])
    as_json = CliRunner().invoke(main, ["check", "--json"])
    static = CliRunner().invoke(main, ["check", "--static"])

    heads = [line for line in result.stdout.splitlines() if not line.startswith(" ")]
    assert [line.split(": ")[0] for line in heads] == [
        "app.py:1:7",
        "fx.config.json:2:3",
        "fx.config.json:3:18",
        "pages/a.fxl:1:1",
        "pages/b.fxl:1:5",
        "pages/c.fxl:1:11",
    ]
    assert result.stderr.splitlines()[-1] == "6 problems in 5 files (6 errors)."
    assert len(json.loads(as_json.stdout)["problems"]) == 6
    assert len([line for line in static.stdout.splitlines() if line[0] != " "]) == 4
    assert (result.exit_code, as_json.exit_code, static.exit_code) == (1, 1, 1)


@pytest.mark.node
def test_one_file_is_fine(root: Path) -> None:
    write({"pages/index.fxl": UI})

    assert CliRunner().invoke(main, ["check"]).stdout == "✓ 1 file is fine.\n"


@pytest.mark.node
def test_named_files_are_counted_if_they_are_looked_at(root: Path) -> None:
    write({"pages/index.fxl": UI, "pages/notes.txt": "x = y\n", "README.md": "# Shop\n"})
    write({"pages/.old/a.py": "", "pages/node_modules/a/index.js": ""})

    page = CliRunner().invoke(main, ["check", "pages/index.fxl"])
    folder = CliRunner().invoke(main, ["check", "pages"])
    other = CliRunner().invoke(main, ["check", "README.md"])

    assert (page.stdout, folder.stdout) == ("✓ 1 file is fine.\n", "✓ 1 file is fine.\n")
    assert (other.exit_code, other.stdout) == (2, "")
    assert "README.md is not a file that fx check looks at." in other.stderr


def test_nothing_is_looked_at_when_it_is_not_known_where(root: Path) -> None:
    write({"fx.config.json": '{"pagesDir": "../x"}', "pages/index.fxl": "x = y\n"})

    result = CliRunner().invoke(main, ["check"])
    assert [line.split(": ")[0] for line in result.stdout.splitlines()] == ["fx.config.json:1:2"]
