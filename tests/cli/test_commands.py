"""The commands that only look: help, version, routes, config, secret."""

from __future__ import annotations

import errno
import json
import secrets
import shutil
import subprocess
import sys
from pathlib import Path
from unittest.mock import Mock

import click
import pytest
from click.testing import CliRunner, Result

from fxtrio import __version__
from fxtrio.cli import main
from fxtrio.cli.group import COMMANDS, SETTINGS_FILE
from fxtrio.config import CONFIG_FILE


def fx(*arguments: str, **environment: str) -> Result:
    return CliRunner().invoke(main, arguments, env=environment)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name in ("layout.fxl", "index.fxl", "blog/[id].fxl", "api/users.py"):
        file = tmp_path / "pages" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("")
    return tmp_path


def test_help_lists_every_command_with_what_it_does() -> None:
    result = fx("--help")

    assert result.exit_code == 0
    listed = [line.split() for line in result.output.splitlines() if line.startswith("  ")]
    described = {words[0] for words in listed if len(words) > 2}
    assert set(COMMANDS) <= described
    assert "..." not in result.output.partition("Commands:")[2]


def test_the_list_says_of_each_command_what_the_command_says_of_itself() -> None:
    context = click.Context(main)
    for name, summary in COMMANDS.items():
        command = main.get_command(context, name)
        assert command is not None
        assert command.get_short_help_str(200) == summary
    assert SETTINGS_FILE == CONFIG_FILE


FULL, DENIED = "No space left on device", "Permission denied"


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (OSError(errno.ENOSPC, FULL, "/srv/a"), f"error /srv/a: {FULL}. Free some space"),
        (OSError(errno.ENOSPC, FULL), f"error {FULL}. Free some space"),
        (PermissionError(errno.EACCES, DENIED, b"/srv"), f"error /srv: {DENIED}. Correct its"),
        (
            shutil.Error([("/a", "/srv/b", f"[Errno 28] {FULL}: '/srv/b'")]),
            f"error /srv/b: {FULL}. Free some space",
        ),
    ],
)
def test_errors_of_the_file_system_are_explained(
    monkeypatch: pytest.MonkeyPatch, error: OSError, expected: str
) -> None:
    monkeypatch.setattr(secrets, "token_urlsafe", Mock(side_effect=error))
    result = fx("secret")

    assert result.exit_code == 1
    assert expected in " ".join(result.output.split())
    assert "fx docs FileAccessFailed" in result.output


def test_a_file_that_a_defect_looks_for_leaves_a_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    missing = FileNotFoundError(errno.ENOENT, "No such file or directory", "/srv/a")
    monkeypatch.setattr(secrets, "token_urlsafe", Mock(side_effect=missing))

    assert fx("secret").exception is missing


def test_the_help_imports_no_command() -> None:
    code = (
        "import sys; from fxtrio.cli import main; main(['--help'], standalone_mode=False); "
        "print([name for name in sys.modules if name in ('trio', 'attrs', 'rich')])"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert result.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_explains_itself(name: str) -> None:
    result = fx(name, "-h")

    assert result.exit_code == 0
    assert f"Usage: main {name}" in result.output
    assert len(result.output.splitlines()[2].strip()) > 10


def test_an_unknown_command_is_a_usage_error() -> None:
    result = fx("buidl")

    assert result.exit_code == 2
    assert "No such command 'buidl'. Did you mean 'build'?" in result.output


def test_versions_name_the_framework_and_node() -> None:
    assert fx("--version").output == f"fx, version {__version__}\n"
    versions = json.loads(fx("version", "--json").output)
    assert versions["fxtrio"] == __version__
    assert {"python", "trio", "node"} <= versions.keys()
    assert f"fxtrio     {__version__}" in fx("version").output


def test_routes_are_listed_in_order_of_specificity(project: Path) -> None:
    (project / "fx.config.json").write_text('{"baseUrl": "/app"}')

    result = fx("routes", "--root", str(project))

    assert result.exit_code == 0
    rows = [line.split() for line in result.output.splitlines()]
    assert rows == [
        ["Route", "Kind", "File", "Layouts"],
        ["/app", "page", "pages/index.fxl", "layout.fxl"],
        ["/app/blog/[id]", "page", "pages/blog/[id].fxl", "layout.fxl"],
        ["/app/api/users", "api", "pages/api/users.py"],
    ]


@pytest.mark.parametrize("environment", [{}, {"FORCE_COLOR": "1"}])
def test_long_names_are_whole_where_the_output_is_no_terminal(
    environment: dict[str, str], project: Path
) -> None:
    source = f"pages/[tenant]/(office)/{'parcels/' * 12}[code].fxl"
    (project / source).parent.mkdir(parents=True)
    (project / source).write_text("")

    result = fx("routes", "--root", str(project), **environment)

    lines = click.unstyle(result.output).splitlines()
    [row] = [line.split() for line in lines if "parcels" in line]
    assert row == [f"/[tenant]/{'parcels/' * 12}[code]", "page", source, "layout.fxl"]


def test_routes_as_json_hold_what_applies_to_a_page(project: Path) -> None:
    (project / "pages/error.fxl").write_text("")

    result = json.loads(fx("routes", "--root", str(project), "--json").output)

    assert result["problems"] == []
    assert result["routes"][0] == {
        "kind": "page",
        "pattern": "/",
        "source": "pages/index.fxl",
        "static": False,
        "layouts": ["pages/layout.fxl"],
        "errors": ["pages/error.fxl"],
        "loading": None,
    }


def test_routes_of_plugins_are_listed_without_running_code_of_the_project(project: Path) -> None:
    (project / "mark.py").write_text("raise SystemExit('run')")
    plugins = ["auth", {"name": "jobs", "settings": {"path": "/_work"}}, "mark:Plugin"]
    settings = {"baseUrl": "/app", "plugins": plugins}
    (project / "fx.config.json").write_text(json.dumps(settings))

    result = fx("routes", "--root", str(project))
    found = json.loads(fx("routes", "--root", str(project), "--json").output)

    rows = [line.split() for line in result.stdout.splitlines()]
    assert rows[1] == ["/app/api/__auth/session", "plugin", "auth"]
    assert ["/app/_work/retry", "plugin", "jobs"] in rows
    assert result.stderr.startswith("warning plugin mark:Plugin: its routes are not listed")
    assert found["unlistedPlugins"] == ["mark:Plugin"]
    assert {
        "kind": "plugin",
        "pattern": "/app/api/__auth/login",
        "source": "auth",
        "methods": ["GET", "HEAD", "POST"],
    } in found["routes"]


def test_conflicts_of_routes_are_errors(project: Path) -> None:
    (project / "pages/blog/[slug].fxl").write_text("")

    result = fx("routes", "--root", str(project))

    assert result.exit_code == 1
    place = f"{project}/pages/blog/[slug].fxl:1:1"
    assert f"error {place}: serves '/blog/[slug]', which" in result.stderr
    assert fx("routes", "--root", str(project), "--json").exit_code == 1


def test_mistakes_in_the_settings_are_printed_without_a_traceback(project: Path) -> None:
    (project / "fx.config.json").write_text('{"ssr": {"workers": 0}, "colour": 1}')

    result = fx("routes", "--root", str(project))

    assert result.exit_code == 1
    *lines, hint = result.stderr.splitlines()
    assert hint == "See 'fx docs ConfigInvalid'."
    places = [line.partition(": ")[0] for line in lines]
    assert places == [f"error {project}/fx.config.json:1:{column}" for column in (10, 25)]
    assert "Traceback" not in result.stderr


def test_settings_are_printed_with_what_differs_from_the_defaults(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "fx.config.json").write_text('{"name": "Shop"}')
    monkeypatch.setenv("FX_SSR__WORKERS", "3")
    monkeypatch.setenv("FX_SECRET_KEY", "very-secret-very-secret")

    result = fx("config", "--root", str(project))
    changed = [line.split() for line in result.output.splitlines() if line.startswith("*")]
    values = json.loads(fx("config", "--root", str(project), "--json").output)

    assert changed == [["*", "name", '"Shop"'], ["*", "ssr.workers", "3"]]
    assert (values["ssr"]["workers"], values["timeouts"]["keepAlive"]) == (3, 75.0)
    assert "very-secret" not in result.output + json.dumps(values)


def test_the_language_server_says_which_extra_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith(("fxtrio.tools.lsp.", "pygls."))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "pygls", None)

    found = fx("lsp")

    assert found.exit_code == 1
    assert found.stderr == (
        "error fx lsp: pygls is not installed. Run \"pip install 'fxtrio[lsp]'\".\n"
        "See 'fx docs ExtraMissing'.\n"
    )


def test_secrets_are_long_and_never_the_same() -> None:
    first, second = fx("secret").output.strip(), fx("secret").output.strip()

    assert first != second
    assert len(first) >= 40


PLUGIN = """
import click

from fxtrio.plugins import Plugin


class Greeter(Plugin):
    name = "greeter"

    def commands(self):
        @click.command(name="greet")
        @click.argument("who")
        def greet(who):
            '''Say hello to WHO.'''
            click.echo(f"Hello, {who}, from {self.config.name}")

        return (greet,)
"""


@pytest.fixture
def project_with_plugin(
    project: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> Path:
    module = f"greeting_{request.node.name.partition('[')[0]}"  # modules are imported once
    (project / f"{module}.py").write_text(PLUGIN)
    settings = {"name": "Shop", "plugins": [f"{module}:Greeter"]}
    (project / "fx.config.json").write_text(json.dumps(settings))
    monkeypatch.chdir(project)
    monkeypatch.setattr(sys, "path", list(sys.path))
    return project


def test_plugins_of_the_current_project_add_commands(project_with_plugin: Path) -> None:
    assert fx("greet", "Ada").output == "Hello, Ada, from Shop\n"
    assert "Say hello to WHO." in fx("--help").output


def test_the_help_works_in_a_project_with_wrong_settings(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "fx.config.json").write_text('{"plugins": ["nothing.like:It"]}')
    monkeypatch.chdir(project)

    assert fx("--help").exit_code == 0
    result = fx("greet")
    assert result.exit_code == 1
    assert "plugins.0.name" in result.stderr
