"""Commands that import the project print its errors with file, line and remedy: no traceback."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from fxtrio.app import create_app
from fxtrio.cli import main
from fxtrio.cli.output import find_app
from fxtrio.cli.serve import serve_options
from fxtrio.compile.build import compile_server
from fxtrio.config import load_config
from fxtrio.server.supervise.application.lifespan import Lifespan, StartFailed
from fxtrio.server.supervise.hypercorn_config import make_config
from fxtrio.server.supervise.options import ServeOptions
from fxtrio.server.supervise.server_process import ParentInterface, serve_here
from tests.trees import page, write_tree

CORRECT = "Fix this line: the app cannot start while it fails."


def work(root: Path, files: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> Result:
    """Build ``files`` without bundles, and start the jobs, for which all of it is imported."""
    write_tree(root, {"fx.config.json": '{"database": {"url": "sqlite:///app.db"}}', **files})
    build = root / ".fx" / "build"
    build.mkdir(parents=True)
    compile_server(root, load_config(root), build, mode="production")
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
    root = write_tree(tmp_path, {"fx.config.json": settings, **files})
    build = root / ".fx" / "build"
    build.mkdir(parents=True)
    config = load_config(root)
    compile_server(root, config, build, mode="production")
    monkeypatch.chdir(root)
    monkeypatch.setenv("FX_PROJECT", str(root))
    given: dict[str, Any] = {"workers": 1, "access_log": None, "log_level": "info", "bind": ()}
    options = serve_options(config, root, find_app(root, None), host="", port=0, **given)

    assert serve_here(options, [], ParentInterface(ready=print)) == 1
    assert capsys.readouterr().err == f"{message}\n"


async def test_a_server_starts_no_app_whose_middleware_cannot_be_made(tmp_path: Path) -> None:
    made = "class Own:\n    def __init__(self, app):\n        {}['key']\n"
    settings = json.dumps({"middleware": ["unmade:Own"]})
    files = {"fx.config.json": settings, "unmade.py": made, "pages/index.fxl": page("x = 1")}
    root = write_tree(tmp_path, files)
    build = root / ".fx" / "build"
    build.mkdir(parents=True)
    compile_server(root, load_config(root), build, mode="production")
    app = create_app(root)

    lifespan = Lifespan(app, make_config(ServeOptions(app="")), {})
    with pytest.raises(StartFailed, match=r"^.*unmade.py:3 __init__: 'unmade:Own' .*'key'\. Corr"):
        await lifespan.run()


def test_a_defect_keeps_its_traceback(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(path: Path, **overrides: object) -> object:
        raise LookupError("a defect")

    monkeypatch.setattr("fxtrio.cli.jobs.worker.load_config", fail)
    result = work(tmp_path, {"pages/index.fxl": page("x = 1")}, monkeypatch)
    assert isinstance(result.exception, LookupError)
