"""Commands that import the project print its errors with file, line and remedy: no traceback."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import trio
from click.testing import CliRunner, Result
from starlette.types import ASGIApp

from fxtrio.app import create_app
from fxtrio.application import Application
from fxtrio.cli import main
from fxtrio.cli.import_check.importer import explain
from fxtrio.cli.output import find_app
from fxtrio.cli.serve import serve_options
from fxtrio.compile.build import compile_server
from fxtrio.config import load_config
from fxtrio.errors import FxtrioError, PlacedError, SeveralProblems
from fxtrio.server.supervise.application.lifespan import Lifespan, StartFailed
from fxtrio.server.supervise.hypercorn_config import make_config
from fxtrio.server.supervise.options import ServeOptions
from fxtrio.server.supervise.server_process import ParentInterface, serve_here
from fxtrio.testing import open_app
from fxtrio.testing.open import open_no_render
from fxtrio.testing.unwrap_groups import ungrouped
from tests.trees import page, write_tree

CORRECT = "Fix this line: the app cannot start while it fails."


def built(root: Path, files: dict[str, str]) -> Path:
    """Return the folder of a project that is built without bundles."""
    write_tree(root, files)
    build = root / ".fx" / "build"
    build.mkdir(parents=True)
    compile_server(root, load_config(root), build, mode="production")
    return root


async def started(app: Application) -> None:
    """Start an app as a server does, and end it. Raises StartFailed."""
    lifespan = Lifespan(app, make_config(ServeOptions(app="")), {})
    async with ungrouped(trio.open_nursery()) as nursery:
        nursery.start_soon(lifespan.run)
        await lifespan.wait_for_startup()
        await lifespan.wait_for_shutdown()


def work(root: Path, files: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> Result:
    """Build ``files`` without bundles, and start the jobs, for which all of it is imported."""
    built(root, {"fx.config.json": '{"database": {"url": "sqlite:///app.db"}}', **files})
    monkeypatch.chdir(root)
    return CliRunner().invoke(main, ["jobs", "work"])


FAILING = {
    "a page": (
        {"pages/index.fxl": page("x = 1\nimport nosuch")},
        "pages/index.fxl:2: importing it fails: there is no module 'nosuch'. Install it, or "
        "correct its name.",
    ),
    "an endpoint": (
        {"pages/api/users.py": "{}['key']\n"},
        f"pages/api/users.py:1: importing it fails: KeyError: 'key'. {CORRECT}",
    ),
    "a module": (
        {"pages/index.fxl": page("import helper"), "helper.py": "x = 1\nx.y\n"},
        "helper.py:2: importing it fails: AttributeError: 'int' object has no attribute 'y'. "
        + CORRECT,
    ),
    "a module that is no Python": (
        {"pages/index.fxl": page("import helper"), "helper.py": "x = 1\ny = = 2\n"},
        f"helper.py:2: importing it fails: SyntaxError: invalid syntax. {CORRECT}",
    ),
    "the environment": (
        {"pages/index.fxl": page("import os\nURL = os.environ['NO_SUCH_URL']")},
        "pages/index.fxl:2: importing it fails: the environment variable 'NO_SUCH_URL' is not "
        "set. Set it for commands of fx, too.",
    ),
    "an end of the process": (
        {"pages/index.fxl": page("import sys\nsys.exit(0)")},
        "pages/index.fxl:2: importing it fails: it exits the process with 0. Do not exit the "
        "process on import.",
    ),
}


@pytest.mark.parametrize("kind", FAILING)
def test_the_place_the_cause_and_the_remedy_are_printed(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files, message = FAILING[kind]
    result = work(tmp_path, files, monkeypatch)
    assert result.exit_code == 1
    assert result.output == f"error {message}\nSee 'fx docs ImportFailed'.\n"


NAMED = {
    "middleware": {"middleware": ["named:Own"]},
    "a hook": {"routeMiddleware": {"pages": ["named:own"]}},
    "a translation": {"translate": "named:own"},
}


@pytest.mark.parametrize("kind", [*FAILING, *NAMED, "an app file"])
def test_a_server_prints_the_same(
    kind: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    files, message = FAILING.get(kind, ({"pages/index.fxl": page("x = 1")}, ""))
    if not message:
        name = "app.py" if kind == "an app file" else "named.py"
        files = {**files, name: "x = 1\nimport nosuch\n"}
        message = f"{name}:2: {FAILING['a page'][1].partition(': ')[2]}"
    settings = json.dumps(NAMED.get(kind, {}))
    root = built(tmp_path, {"fx.config.json": settings, **files})
    config = load_config(root)
    monkeypatch.chdir(root)
    monkeypatch.setenv("FX_PROJECT", str(root))
    arguments: dict[str, Any] = {"workers": 1, "access_log": None, "log_level": "info", "bind": ()}
    options = serve_options(config, root, find_app(root, None), host="", port=0, **arguments)

    assert serve_here(options, [], ParentInterface(ready=print)) == 1
    assert capsys.readouterr().err == f"{message}\n"


async def test_a_server_starts_no_app_whose_middleware_cannot_be_created(tmp_path: Path) -> None:
    middleware = "class Own:\n    def __init__(self, app):\n        {}['key']\n"
    settings = json.dumps({"middleware": ["unmade:Own"]})
    files = {"fx.config.json": settings, "unmade.py": middleware, "pages/index.fxl": page("x = 1")}
    app = create_app(built(tmp_path, files))

    with pytest.raises(StartFailed, match=r"^.*unmade.py:3 __init__: 'unmade:Own' .*'key'\. Corr"):
        await started(app)


class Flaky:
    """Makes middleware, though not at once."""

    failures = 1

    def __call__(self, app: ASGIApp) -> ASGIApp:
        if self.failures:
            self.failures -= 1
            raise LookupError("not yet")
        return app


@pytest.mark.parametrize("bind", [lambda flaky: flaky, partial])
async def test_a_start_fails_by_the_name_of_any_callable_and_the_next_succeeds(
    tmp_path: Path, bind: Callable[[Flaky], Any]
) -> None:
    write_tree(tmp_path, {"pages/index.fxl": page("x = 1")})
    async with open_app(tmp_path) as client:
        app = client.app
    app.add_middleware(bind(Flaky()))

    with pytest.raises(StartFailed, match=r"\.Flaky' cannot be made: LookupError: not yet\."):
        await started(app)
    await started(app)


BELOW = "class Own:\n    def __init__(self, app): ...\ndef own(request, text): ...\n"


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        (
            "middleware",
            ["late:Own"],
            r"'late:Own' cannot be imported: .*'Own'\. Write",
        ),
        (
            "translate",
            "late:own",
            r"'late:own', which cannot be imported: .*'own'\. Name",
        ),
        (
            "routeMiddleware",
            {"pages": ["late:own"]},
            r"'late:own' cannot be imported: .*'own'\. Write",
        ),
    ],
)
async def test_settings_name_what_follows_the_app_in_its_module(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, key: str, value: object, message: str
) -> None:
    monkeypatch.setattr("fxtrio.app.open_pool", lambda *_: open_no_render())
    app = "from fxtrio import create_app\napp = create_app(__file__.rpartition('/')[0])\n"
    for name, text in (("late", app + BELOW), ("less", app)):
        monkeypatch.delitem(sys.modules, "late", raising=False)
        settings = json.dumps({key: value})
        files = {"fx.config.json": settings, "late.py": text, "pages/index.fxl": page("x = 1")}
        root = built(tmp_path / name, files)
        monkeypatch.syspath_prepend(root)
        imported_app = import_module("late").app
        if name == "late":
            await started(imported_app)
        else:
            with pytest.raises(StartFailed) as failed:
                await started(imported_app)
            assert re.search(message, failed.value.reason)
            assert "Traceback" not in failed.value.reason


def test_a_defect_keeps_its_traceback(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(path: Path, **overrides: object) -> object:
        raise LookupError("a defect")

    monkeypatch.setattr("fxtrio.cli.jobs.worker.load_config", fail)
    result = work(tmp_path, {"pages/index.fxl": page("x = 1")}, monkeypatch)
    assert isinstance(result.exception, LookupError)


OTHERS = "they say: no such host. Is it running"


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (PlacedError("db", OTHERS, "Start it"), (f"db: {OTHERS}", "Start it")),
        (PlacedError("db", OTHERS), (f"db: {OTHERS}", "See 'fx docs PlacedError'")),
        (PlacedError("", "no. No", "Do it.  Or leave it."), ("no. No", "Do it. Or leave it")),
        (PlacedError("a", "b\nc", "d", output="e"), ("a: b c", "d")),
        (
            SeveralProblems(["a: b. C.", "d: e. F."]),
            ("a: b. C. d: e. F", "See 'fx docs SeveralProblems'"),
        ),
    ],
)
def test_all_that_an_error_of_the_framework_says_is_printed(
    error: FxtrioError, expected: tuple[str, str]
) -> None:
    assert explain(error) == expected
