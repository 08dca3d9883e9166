"""What `open_app` does to the code of the test, and to the project's data."""

from __future__ import annotations

import re
import subprocess
import sys
import traceback
from pathlib import Path
from typing import Any

import pytest
import trio

from fx.tasks import enqueue
from fx.testing import open_app
from fxtrio.app_handle import get_app
from fxtrio.cli.init import starter
from fxtrio.config import PluginConfig, load_config
from fxtrio.config.errors import ConfigInvalid
from fxtrio.errors import FxtrioError, TaskQueueNotRunning
from fxtrio.plugins.auth import get_auth
from fxtrio.plugins.auth.errors import AuthNotInstalled
from fxtrio.testing.open import with_plugins
from tests.trees import page, write_tree

EMAIL, PASSWORD = "ada@example.org", "correct horse battery"
CHEAP = {"timeCost": 1, "memoryKib": 8, "parallelism": 1}
WHO = """
    @server
    async def load(request):
        user = request.state.user
        return {"email": None if user is None else user.email}
    """


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return write_tree(tmp_path / "project", {"pages/index.fxl": page(WHO)})


def with_auth(**auth: Any) -> dict[str, Any]:
    return {"plugins": [{"name": "auth", "settings": {"argon2": CHEAP, **auth}}]}


def databases(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.sqlite3*"))


async def test_a_test_can_add_a_user_and_sign_in(project: Path) -> None:
    async with open_app(project, **with_auth()) as client:
        await get_auth().add_user(EMAIL, PASSWORD)
        body = {"email": EMAIL, "password": PASSWORD}
        assert (await client.post("/api/__auth/login", json=body)).status == 200
        assert (await client.load_page("/")).data == {"email": EMAIL}


async def test_the_code_of_the_block_belongs_to_the_app_and_no_other_does(project: Path) -> None:
    done = trio.Event()

    async def job() -> None:
        done.set()

    async with open_app(project, **with_auth()) as outer:
        async with open_app(project) as inner:
            assert get_app() is inner.app.state.fx
            with pytest.raises(AuthNotInstalled, match="Add 'auth' to 'plugins'"):
                get_auth()
        assert get_app() is outer.app.state.fx
        enqueue(job)
        with trio.fail_after(5):
            await done.wait()
    assert get_app() is None
    with pytest.raises(AuthNotInstalled, match="a test within 'open_app'"):
        get_auth()
    with pytest.raises(TaskQueueNotRunning):
        enqueue(job)


PLUGIN = """
    from contextlib import asynccontextmanager
    from fxtrio.plugins import Plugin

    class Shop(Plugin):
        name = "shop"

        @asynccontextmanager
        async def open(self, app):
            prices = {}["bread"]
            yield
    """


@pytest.mark.parametrize(
    ("files", "message", "cause"),
    [
        (
            {"fx.config.json": '{"plugins": ["stand_alone:Shop"]}', "stand_alone.py": PLUGIN},
            "plugin 'shop': could not start: KeyError: 'bread'. Fix .*stand_alone.py:9,",
            'prices = {}["bread"]',
        ),
        (
            {"fx.config.json": '{"plugins": ["jobs"]}'},
            "plugin 'jobs': could not start: .*Put 'auth' before it",
            "",
        ),
        (
            {
                "fx.config.json": '{"database": {"url": "sqlite:///a.db"}}',
                "migrations/0001_a.sql": "creat table a;",
            },
            'migrations/0001_a.sql: near "creat": syntax error. ',
            "",
        ),
        ({"pages/index.fxl": "x = oops()\n"}, r"index.fxl:1:5: undefined name 'oops'\.", ""),
        ({"fx.config.json": '{"plugin": []}'}, "Did you mean 'plugins'?", ""),
    ],
)
async def test_a_mistake_in_the_project_is_one_error_without_frames_of_the_framework(
    project: Path, files: dict[str, str], message: str, cause: str
) -> None:
    write_tree(project, files)
    with pytest.raises(FxtrioError, match=message) as caught:
        async with open_app(project):
            pass
    text = "".join(traceback.format_exception(caught.value))
    frames = [line for line in text.splitlines() if line.startswith("  File ")]
    own = [line for line in frames if "/fxtrio/" in line and "unwrap_groups" not in line]
    assert own == [] and cause in text
    assert text.count("Traceback (most recent") == (2 if cause else 1)


@pytest.mark.parametrize("absolute", [False, True])
async def test_tests_leave_the_project_s_database_alone(project: Path, absolute: bool) -> None:
    real = project / "users.sqlite3"
    real.write_bytes(b"the users of the project")
    settings = with_auth(database=str(real) if absolute else "users.sqlite3")
    for _ in range(2):  # the second one does not know the first one's user
        async with open_app(project, **settings):
            assert await get_auth().add_user(EMAIL, PASSWORD) is not None
    assert [path.name for path in databases(project)] == ["users.sqlite3"]
    assert real.read_bytes() == b"the users of the project"


async def test_a_test_may_name_the_folder_of_the_data(project: Path, tmp_path: Path) -> None:
    data_folder = tmp_path / "kept"
    added = []
    for _ in range(2):
        async with open_app(project, data=data_folder, **with_auth()):
            added.append(await get_auth().add_user(EMAIL, PASSWORD) is not None)
    assert added == [True, False]
    assert [path.name for path in databases(tmp_path)] == ["auth.sqlite3"]
    assert databases(data_folder) == databases(tmp_path)


BLOCKS = """
    from fx.realtime import channel

    async def websocket(ws):
        await ws.accept()
        async with channel(ws, "room"):
            await ws.receive_text()
    """


@pytest.mark.parametrize("block", ["app", "stream", "websocket"])
@pytest.mark.parametrize("error", [AssertionError("mine"), pytest.fail.Exception("mine")])
async def test_what_a_test_raises_leaves_the_blocks_in_no_group(
    tmp_path: Path, block: str, error: BaseException
) -> None:
    write_tree(tmp_path, {"pages/index.fxl": page(BLOCKS)})
    with pytest.raises(type(error), match="mine") as caught:
        async with open_app(tmp_path) as client:
            if block == "stream":
                async with client.stream("GET", "/"):
                    raise error
            if block == "websocket":
                async with client.websocket("/"):
                    raise error
            raise error
    assert caught.value is error


async def test_settings_of_a_plugin_are_joined_with_those_of_the_project(tmp_path: Path) -> None:
    write_tree(
        tmp_path,
        {
            "pages/index.fxl": page(WHO),
            "fx.config.json": """{"plugins": [
                {"name": "auth", "settings": {"minPasswordLength": 4, "argon2": {"timeCost": 1}}},
                "other.Plugin"
            ]}""",
            "other.py": """
from fxtrio.plugins import Plugin as Base


class Plugin(Base[None]):
    name = "other"
""",
        },
    )
    cheap = {"argon2": {"memoryKib": 8, "parallelism": 1}}
    entry: dict[str, Any] = {"name": "auth", "settings": cheap}
    for configured in (entry, PluginConfig(**entry)):
        settings = with_plugins(tmp_path, {"plugins": [configured]})
        [auth, other] = load_config(tmp_path, **settings).plugins
        assert auth.settings == {
            "minPasswordLength": 4,
            "argon2": {**cheap["argon2"], "timeCost": 1},
        }
        assert other.name == "other.Plugin"
    added = with_plugins(tmp_path, {"plugins": ["more.Plugin"]})
    names = [plugin.name for plugin in load_config(tmp_path, **added).plugins]
    assert names == ["auth", "other.Plugin", "more.Plugin"]
    assert load_config(tmp_path, **with_plugins(tmp_path, {"plugins": []})).plugins == ()


@pytest.mark.parametrize("wrong", ["auth", [7], [{"settings": {}}]])
async def test_a_setting_that_is_no_plugin_is_reported_as_usual(project: Path, wrong: Any) -> None:
    with pytest.raises(ConfigInvalid, match="plugins"):
        async with open_app(project, plugins=wrong):
            pytest.fail("opened")


def test_a_failing_test_is_reported_with_its_own_error(tmp_path: Path) -> None:
    write_tree(
        tmp_path,
        {
            "pages/index.fxl": page(WHO.replace("request.state.user", "None")),
            "conftest.py": 'pytest_plugins = ["fxtrio.testing.fixtures"]\n',
            "part.py": "ONE = 1\n",
            "tests/test_it.py": """
from pathlib import Path

from fx.testing import open_app
from part import ONE


async def test_it():
    async with open_app(Path(__file__).parent.parent):
        assert ONE == 2


async def test_the_fixture(fx_client):
    assert 3 == 4
""",
            "pytest.ini": starter("shop")["pytest.ini"].decode(),
        },
    )
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", str(tmp_path)]
    run = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=60)
    assert re.search(r"^E +assert 1 == 2$", run.stdout, re.MULTILINE), run.stdout
    assert re.search(r"^E +assert 3 == 4$", run.stdout, re.MULTILINE)
    assert "2 failed" in run.stdout
    assert "Group" not in run.stdout


def test_a_clock_of_a_fixture_that_the_test_does_not_have_is_reported(tmp_path: Path) -> None:
    write_tree(
        tmp_path,
        {
            "conftest.py": 'pytest_plugins = ["fxtrio.testing.fixtures"]\n',
            "test_it.py": """
import pytest
import trio


@pytest.fixture
async def waiting(autojump_clock):
    yield 7


async def test_without_it(waiting):
    pytest.fail("ran on the real clock")


@pytest.mark.usefixtures("mock_clock")
async def test_with_a_mark():
    pytest.fail("ran on the real clock")


@pytest.fixture
def stopped():
    return trio.testing.MockClock()


@pytest.fixture
def time_of_a_part(stopped):
    return stopped.current_time()


async def test_with_a_clock_that_nothing_runs_on(time_of_a_part):
    assert time_of_a_part == 0


async def test_with_it(waiting, autojump_clock):
    await trio.sleep(3600)
""",
            "pytest.ini": starter("shop")["pytest.ini"].decode(),
        },
    )
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", str(tmp_path)]
    run = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=60)
    for clock in ("autojump_clock", "mock_clock"):
        assert f"its fixtures or marks ask for '{clock}'" in run.stdout, run.stdout
        assert f"Add the parameter '{clock}' to the test." in run.stdout
    assert "ran on the real clock" not in run.stdout
    assert "2 passed, " in run.stdout and "2 errors" in run.stdout
