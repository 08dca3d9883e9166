"""`fx check`, `fx build`, `fx serve` and a fresh project, as a user runs them."""

from __future__ import annotations

import gzip
import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest
import trio
from click.testing import CliRunner, Result
from msgspec.structs import replace

from fxtrio.cli import main
from fxtrio.cli.serve import serve_options, server_limits
from fxtrio.compile.publish.page_weights import Weight, weigh_pages
from fxtrio.config import Config, load_config
from fxtrio.manifest import load_manifest
from tests.e2e.support import nodes_of
from tests.ports import free_port

SECRET = {"FX_SECRET_KEY": "a key for tests that is long enough"}


def fx(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fresh project, built."""
    folder = tmp_path_factory.mktemp("projects")
    before = Path.cwd()
    os.chdir(folder)
    try:
        assert fx("init", "shop").exit_code == 0
    finally:
        os.chdir(before)
    result = fx("build", "--root", str(folder / "shop"))
    assert result.exit_code == 0, result.output
    return folder / "shop"


@asynccontextmanager
async def serving(command: list[str], *, cwd: Path) -> AsyncIterator[tuple[httpx.AsyncClient, int]]:
    """Run a server and yield a client once it answers; it must end in order."""
    port = free_port()
    place = f"127.0.0.1:{port}"
    words = [word.replace("ADDRESS", place).replace("PORT", str(port)) for word in command]
    process = await trio.lowlevel.open_process(
        [sys.executable, "-m", *words],
        cwd=cwd,
        env={**os.environ, **SECRET},
        stderr=subprocess.DEVNULL,
    )
    try:
        async with httpx.AsyncClient(base_url=f"http://{place}", timeout=30) as client:
            while True:
                try:
                    await client.get("/readyz")
                    break
                except httpx.ConnectError:
                    assert process.returncode is None, "the server has ended"
                    await trio.sleep(0.05)
            yield client, process.pid
        process.send_signal(signal.SIGTERM)
        assert await process.wait() == 0
    finally:
        if process.returncode is None:
            process.kill()


@pytest.mark.node
async def test_a_fresh_project_works_with_fx_serve(built: Path) -> None:
    command = ["fxtrio", "serve", "--port", "PORT"]
    with trio.fail_after(120):
        async with serving(command, cwd=built) as (client, _):
            page = await client.get("/")
            missing = await client.get("/nowhere")
            added = await client.post(
                "/api/__actions/index/add_note",
                json={"text": "hello"},
                headers={"sec-fetch-site": "same-origin"},
            )
            again = await client.get("/")

    assert page.status_code == 200
    assert "<h1>Notes</h1>" in page.text
    assert missing.status_code == 404
    assert "This page could not be found." in missing.text
    assert added.json() == {"ok": True, "count": 1}
    assert "hello" in again.text


@pytest.mark.node
async def test_a_renderer_that_is_killed_again_and_again_is_named(built: Path) -> None:
    command = ["fxtrio", "serve", "--port", "PORT"]
    with trio.fail_after(120):
        async with serving(command, cwd=built) as (client, pid):

            async def until(status: int, *, killing: bool) -> dict[str, Any]:
                """Ask until the answer has this status: one is true for a second."""
                while True:
                    for number in nodes_of(pid) if killing else ():
                        with suppress(ProcessLookupError):
                            os.kill(number, signal.SIGKILL)
                    answer = await client.get("/readyz")
                    assert (await client.get("/livez")).status_code == 200
                    if answer.status_code == status:
                        found: dict[str, Any] = answer.json()
                        return found
                    await trio.sleep(0.02)

            await until(200, killing=False)
            away = await until(503, killing=True)
            back = await until(200, killing=False)
            page = await client.get("/about")

    assert away == {"ok": False, "checks": {"renderer": "no worker"}}
    assert back == {"ok": True, "checks": {"renderer": "ok"}}
    assert page.status_code == 200


@pytest.mark.node
async def test_a_fresh_project_works_with_hypercorn(built: Path) -> None:
    command = ["hypercorn", "--worker-class", "trio", "--bind", "ADDRESS", "app:app"]
    with trio.fail_after(120):
        async with serving(command, cwd=built) as (client, pid):
            page = await client.get("/about")
            nodes = nodes_of(pid)

    assert nodes
    assert [pid for pid in nodes if psutil.pid_exists(pid)] == []
    assert page.status_code == 200
    assert "<title" in page.text and "About · shop" in page.text


@pytest.mark.node
async def test_a_project_without_an_app_file_is_served_too(built: Path, tmp_path: Path) -> None:
    for name in ("pages", ".fx"):
        (tmp_path / name).symlink_to(built / name, target_is_directory=True)
    with trio.fail_after(120):
        command = ["fxtrio", "serve", "--port", "PORT", "--workers", "2"]
        async with serving(command, cwd=tmp_path) as (client, _):
            page = await client.get("/")

    assert page.status_code == 200


@pytest.mark.node
def test_serving_needs_a_secret(built: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FX_SECRET_KEY", raising=False)

    result = fx("serve", "--root", str(built))

    assert result.exit_code == 1
    assert result.stderr.startswith("error FX_SECRET_KEY is not set. ")


@pytest.mark.node
def test_a_build_warns_of_pages_that_will_fail(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "pages").mkdir()
    monkeypatch.chdir(tmp_path)
    Path("pages/index.fxl").write_text("export default function P() {\n  return <Lnik />;\n}\n")

    result = fx("build")

    assert result.exit_code == 0
    assert "warning pages/index.fxl:2:11: undefined name 'Lnik' in client code." in result.stderr


def test_a_build_fails_for_a_module_that_does_not_parse_as_a_check_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "pages").mkdir()
    monkeypatch.chdir(tmp_path)
    Path("pages/index.fxl").write_text(
        "import store\n\nexport default function P() {\n  return <p>x</p>;\n}\n"
    )
    Path("store.py").write_text("def read(:\n    return 1\n")

    built, checked = fx("build"), fx("check")

    finding = "store.py:1:10: broken Python: invalid syntax."
    assert built.exit_code == checked.exit_code == 1
    assert built.stderr.startswith(f"error {finding}") or f"\nerror {finding}" in built.stderr
    assert checked.stdout.startswith(finding)
    assert "1 problem" in checked.stderr


def test_a_build_fails_for_settings_that_a_plugin_lacks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "pages").mkdir()
    monkeypatch.chdir(tmp_path)
    Path("pages/index.fxl").write_text("export default function P() {\n  return <p>x</p>;\n}\n")
    Path("fx.config.json").write_text('{"plugins": ["auth", {"name": "jobs", "settings": {}}]}')

    result = fx("build")

    assert result.exit_code == 1
    assert "error fx.config.json:1:39: plugins.1.settings.users is needed: " in result.stderr
    assert "needs 'database.url'" not in result.stderr  # a warning, of a build that is there


def test_everything_that_serving_lacks_is_reported_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("FX_SECRET_KEY", raising=False)
    monkeypatch.chdir(tmp_path)

    lines = fx("serve").stderr.splitlines()

    assert lines[0] == "error .fx/build/manifest.json: there is no build. Run 'fx build'."
    assert lines[1].startswith("error FX_SECRET_KEY is not set. ")
    assert lines[2:] == ["See 'fx docs ManifestUnreadable' and 'fx docs SecretMissing'."]


def test_serving_needs_a_build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FX_SECRET_KEY", SECRET["FX_SECRET_KEY"])

    result = fx("serve", "--root", str(tmp_path))

    assert result.exit_code == 1
    assert "there is no build. Run 'fx build'." in result.stderr


@pytest.mark.node
def test_the_analysis_weighs_what_a_browser_loads(built: Path) -> None:
    build = built / ".fx/build"
    manifest = load_manifest(build)
    [about, home] = sorted(weigh_pages(build, manifest), key=lambda page: page.pattern)[::-1]

    def size(url: str) -> Weight:
        data = (build / "client" / url.removeprefix("/_fx/")).read_bytes()
        return Weight(len(data), len(gzip.compress(data, mtime=0)))

    view = next(view for view in manifest.views if view.module == "pages/about.fxl")
    layout = size(view.client["layouts"][0]["module"])
    assert (about.pattern, home.pattern) == ("/about", "/")
    assert about.own.raw >= size(view.client["module"]).raw + layout.raw
    assert (about.script, about.reasons) == (Weight(0, 0), ())  # its code needs none
    assert home.script.raw > home.own.raw > 0
    assert home.reasons != ()
    assert about.style == size(view.client["css"][0])


@pytest.mark.node
def test_a_build_can_be_described_as_json(built: Path) -> None:
    result = CliRunner().invoke(main, ["build", "--root", str(built), "--analyze", "--json"])

    described = json.loads(result.stdout)
    assert described["folder"] == str(built / ".fx/build")
    assert [page["pattern"] for page in described["pages"]] == ["/", "/about"]


def test_check_reports_every_problem_with_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    pages = tmp_path / "pages"
    pages.mkdir()
    (pages / "index.fxl").write_text("@server\ndef load(request):\n    return {}\n")
    (pages / "about.fxl").write_text("def broken(:\n    pass\n")

    result = fx("check", "--root", str(tmp_path))
    as_json = json.loads(fx("check", "--root", str(tmp_path), "--json").output)

    assert result.exit_code == 1
    heads = [line for line in result.stdout.splitlines() if not line.startswith(" ")]
    places = [line.split(":")[:2] for line in heads]
    assert ["pages/index.fxl", "2"] in places
    assert ["pages/about.fxl", "1"] in places
    assert len(as_json["problems"]) == len(places)
    failed = fx("build", "--root", str(tmp_path))
    assert failed.exit_code == 1
    assert "pages/index.fxl:2:" in failed.stderr


def test_check_is_content_with_a_fresh_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    fx("init", "shop")

    result = fx("check", "--root", "shop")

    assert result.exit_code == 0
    assert "6 files are fine." in result.output


def test_the_server_gets_the_settings_and_options_take_precedence(tmp_path: Path) -> None:
    config = load_config(
        tmp_path,
        environ={},
        timeouts={"shutdown": 60, "keep_alive": 5, "header": 3},
        observability__access_log="json",
        limits__connections=7,
    )
    settings: dict[str, Any] = {"host": "::1", "port": 9, "bind": (), "workers": 3}
    settings["log_level"] = "warning"

    options = serve_options(config, tmp_path, "", access_log=None, **settings)
    other = serve_options(config, tmp_path, "app:app", access_log="off", **settings)

    assert options.bind == ("[::1]:9",)
    assert (options.workers, options.log_level, options.access_log) == (3, "WARNING", "json")
    assert (options.shutdown, options.graceful) == (60, 48)
    assert (options.limits.connections, options.limits.header_time) == (7, 3)
    assert options.limits.idle_time == 5
    assert options.factory and not other.factory
    assert other.access_log is None


def test_the_limits_of_the_settings_are_those_of_the_server() -> None:
    """Their defaults are the server's own, but for bodies, which the app answers itself."""
    from fxtrio.server.http1.limits import ServerLimits

    assert server_limits(Config()) == replace(ServerLimits(), body=256 * 1024**2)


@pytest.mark.parametrize("workers", ["0", "many", "-1"])
def test_wrong_numbers_of_workers_are_usage_errors(tmp_path: Path, workers: str) -> None:
    result = fx("serve", "--root", str(tmp_path), "--workers", workers)

    assert result.exit_code == 2
    assert "is not above 0 and not 'auto'" in result.output
