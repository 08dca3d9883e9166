"""What `open_app` does to the code of the test, and to the project's data."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import trio

from fx.tasks import enqueue
from fx.testing import open_app
from fxtrio.context import get_app
from fxtrio.errors import AuthNotInstalled, TaskQueueNotRunning
from fxtrio.plugins.auth import get_auth
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
    kept = tmp_path / "kept"
    added = []
    for _ in range(2):
        async with open_app(project, data=kept, **with_auth()):
            added.append(await get_auth().add_user(EMAIL, PASSWORD) is not None)
    assert added == [True, False]
    assert [path.name for path in databases(tmp_path)] == ["auth.sqlite3"]
    assert databases(kept) == databases(tmp_path)
