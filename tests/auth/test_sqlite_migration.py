"""Accounts of a former version go on: in their own file, and into the app's database."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from fxtrio.config import load_config
from fxtrio.plugins.auth import AuthPlugin, AuthSettings
from fxtrio.plugins.auth.errors import AuthDatabaseUnusable
from fxtrio.plugins.auth.storage.open_storage import FILE, open_own_file
from tests.auth.harness import (
    CHEAP,
    EMAIL,
    KEY,
    PASSWORD,
    Auth,
    Clock,
    carry,
    log_in,
    open_auth,
    open_auth_with_user,
    user_of,
)

SQL = Path(__file__).with_name("former.sql").read_text()
shared = pytest.mark.parametrize("root", ["file", "postgresql"], indirect=True)


def write_former(path: Path, *users: str) -> None:
    path.parent.mkdir(mode=0o700, exist_ok=True)
    with closing(sqlite3.connect(path)) as file:
        file.executescript(SQL)
        for user in users:
            file.execute(
                "insert into users values (?, ?, 'hash', 1.5)", (user * 32, f"{user}@example.org")
            )
        file.commit()


async def signed_in(root: Path, clock: Clock, file: str) -> str:
    """Make a file of one user who is signed in, with a mark, and return the cookie."""
    async with open_auth_with_user(root, clock=clock, database=file) as auth:
        await log_in(auth.client(), password="a wrong password")
        return carry(await log_in(auth.client()))


async def user_with(auth: Auth, cookie: str) -> str | None:
    client = auth.client()
    client.headers["cookie"] = cookie
    return await user_of(client)


async def test_a_file_of_the_former_version_is_used_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / FILE
    write_former(path, "a")
    async with open_own_file(path) as storage:
        account = await storage.find_account("a@example.org")
    assert account is not None
    with closing(sqlite3.connect(path)) as file:
        assert file.execute("pragma user_version").fetchone() == (2,)  # which that version opens
        assert file.execute("select email from users").fetchall() == [("a@example.org",)]


@shared
async def test_accounts_and_sessions_go_into_the_database_of_the_app(
    root: Path, caplog: pytest.LogCaptureFixture
) -> None:
    clock = Clock()
    cookie = await signed_in(root, clock, FILE)
    for _ in range(2):
        async with open_auth(root, clock=clock) as auth:
            assert await user_with(auth, cookie) == EMAIL
            assert (await log_in(auth.client())).status_code == 200
            assert await auth.rows("select email from fx_auth_users") == [{"email": EMAIL}]
            marks = await auth.rows("select key from fx_auth_marks where key like 'client:%'")
            assert marks == [{"key": "client:203.0.113.5"}]
    imports = [text for text in caplog.messages if "imported" in text]
    assert imports == [
        f"{root / FILE}: imported 1 accounts and 1 sessions. Keep the file as a backup, or "
        "delete it."
    ]


@shared
async def test_what_has_ended_since_does_not_come_back(root: Path) -> None:
    clock = Clock()
    cookie = await signed_in(root, clock, FILE)
    async with open_auth(root, clock=clock) as auth:
        client = auth.client()
        client.headers["cookie"] = cookie
        await client.post("/api/__auth/logout")
    async with open_auth(root, clock=clock) as auth:
        assert await user_with(auth, cookie) is None


async def test_a_file_that_was_taken_over_is_used_no_more(root: Path) -> None:
    write_former(root / FILE, "a")
    async with open_auth(root):
        pass
    if not load_config(root).database.url:
        return
    with pytest.raises(AuthDatabaseUnusable, match=r"are in the database of 'database\.url' now"):
        async with open_own_file(root / FILE):
            raise AssertionError("must not open")


def run(root: Path, *arguments: str) -> Result:
    config = load_config(root, secret_keys=(KEY,))
    (command,) = AuthPlugin(AuthSettings(argon2=CHEAP), config=config, root=root).commands()
    assert isinstance(command, click.Group)
    return CliRunner().invoke(command, arguments)


@shared
def test_the_file_of_another_machine_is_reported_and_taken_over_by_a_command(
    root: Path, caplog: pytest.LogCaptureFixture
) -> None:
    assert run(root, "create-user", EMAIL, "--password", PASSWORD).exit_code == 0
    path = root / FILE
    write_former(path, "a", "b")
    with closing(sqlite3.connect(path)) as file:
        file.execute("update users set email = ? where id = ?", (EMAIL, "b" * 32))
        file.execute("insert into sessions values (x'01', ?, 1, 2, 3, 1)", ("a" * 32,))
        file.execute("insert into sessions values (x'02', ?, 1, 2, 3, 1)", ("b" * 32,))
        file.commit()
    result = run(root, "import", str(path))
    assert f"Run 'fx auth import {path}' to import them, or delete it" in caplog.text
    assert result.output == (
        f"{path}: imported 1 accounts and 1 sessions; 1 addresses had an account. "
        "Keep the file as a backup, or delete it.\n"
    )
    again = run(root, "import", str(path))
    assert again.exit_code == 1
    assert "imported before. Use '--again'" in again.output
    assert "imported 0 accounts" in run(root, "import", "--again", str(path)).output


def test_without_a_database_of_the_app_there_is_nothing_to_import_into(tmp_path: Path) -> None:
    write_former(tmp_path / "other.sqlite3", "a")
    result = run(tmp_path, "import", str(tmp_path / "other.sqlite3"))
    assert result.exit_code == 1
    assert "Set 'database.url' first" in result.output


@shared
async def test_a_file_that_the_settings_name_stays_where_it_is(root: Path) -> None:
    write_former(root / "users.sqlite3", "a")
    async with open_auth(root, database="users.sqlite3") as auth:
        assert await auth.storage.find_account("a@example.org") is not None
        assert not auth.storage.shared
    async with open_auth(root) as auth:
        assert await auth.storage.find_account("a@example.org") is None


def test_a_database_of_a_newer_version_is_rejected(tmp_path: Path) -> None:
    (tmp_path / "fx.config.json").write_text(
        json.dumps({"database": {"url": "sqlite:///data/app.db"}})
    )
    assert run(tmp_path, "create-user", EMAIL, "--password", PASSWORD).exit_code == 0
    with closing(sqlite3.connect(tmp_path / "data/app.db")) as file:
        file.execute("update fx_auth set version = 99")
        file.commit()
    result = run(tmp_path, "create-user", "b@example.org", "--password", PASSWORD)
    assert isinstance(result.exception, AuthDatabaseUnusable)
    assert "newer version of fxtrio" in str(result.exception)
