"""`onRegister`: rows of the app's own, stored with the account or not at all."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import trio

from fx.testing import Client, open_app
from fxtrio.plugins.auth import AuthService
from tests.auth.harness import KEY, PASSWORD
from tests.trees import page, write_tree

NAME = "accounts_of_the_test"
MODULE = """
    import attrs
    from fx.db import db
    from fx.runtime import ActionError

    SENT = []

    async def send_email(message):
        SENT.append(message)

    @attrs.frozen
    class Profile:
        name: str
        age: int = 0

    async def began(user, profile: Profile):
        await db.execute(
            "insert into profiles (user_id, name, age) values ($1, $2, $3)",
            user.id, profile.name, profile.age,
        )
        if profile.name == "refused":
            raise ActionError("No.", fields={"name": ["Choose another one."]})
        if profile.name == "broken":
            raise RuntimeError("broken")
    """
CHEAP = {"timeCost": 1, "memoryKib": 8, "parallelism": 1}
NEW = "new@example.org"


def options(**changes: Any) -> dict[str, Any]:
    settings = {"argon2": CHEAP, "onRegister": f"{NAME}:began", **changes}
    return {"plugins": [{"name": "auth", "settings": settings}], "secret_keys": (KEY,)}


@pytest.fixture
def root(tmp_path: Path) -> Iterator[Path]:
    tables = "create table profiles (user_id text, name text, age integer);"
    files = {"pages/index.fxl": page(""), f"{NAME}.py": MODULE, "migrations/0001_p.sql": tables}
    write_tree(tmp_path, {**files, "fx.config.json": '{"database": {"url": "sqlite:///app.db"}}'})
    yield tmp_path
    sys.modules.pop(NAME, None)


def service_of(client: Client) -> AuthService:
    found: AuthService = client.app.state.fx.plugins["auth"]
    return found


async def profiles(client: Client) -> list[tuple[Any, ...]]:
    rows = await client.app.state.fx.database.all(dict, "select name, age from profiles")
    return [(row["name"], row["age"]) for row in rows]


async def register(client: Client, *, at: str = "register", **fields: Any) -> tuple[int, Any]:
    response = await client.post(f"/api/__auth/{at}", json={"password": PASSWORD, **fields})
    return response.status, response.json()


async def sent(module: Any) -> list[Any]:
    """Return the mails, as soon as there are any."""
    with trio.fail_after(10):
        while not module.SENT:  # a job sends them
            await trio.lowlevel.checkpoint()
    mails: list[Any] = module.SENT
    return mails


async def test_a_row_comes_with_the_account(root: Path) -> None:
    async with open_app(root, **options()) as client:
        assert await register(client, email=NEW, name="Ada", age=36) == (200, {"ok": True})
        assert await profiles(client) == [("Ada", 36)]
        # A taken address has its row, and gets no second one.
        assert await register(client, email=NEW, name="Eve") == (200, {"ok": True})
        assert await profiles(client) == [("Ada", 36)]


async def test_fields_are_checked_with_address_and_password(root: Path) -> None:
    async with open_app(root, **options()) as client:
        status, body = await register(client, email="none", age="old")
        assert status == 422
        assert set(body["fields"]) == {"email", "name", "age"}
        assert await profiles(client) == []


@pytest.mark.parametrize("own_file", [False, True])
async def test_what_fails_leaves_neither_row_nor_account(root: Path, own_file: bool) -> None:
    changes = {"database": "accounts.sqlite3"} if own_file else {}
    async with open_app(root, **options(**changes)) as client:
        status, body = await register(client, email=NEW, name="refused")
        assert (status, body["fields"]) == (400, {"name": ["Choose another one."]})
        assert await service_of(client).find_user(email=NEW) is None
        status, _ = await register(client, email=NEW, name="broken")
        assert status == 500
        assert await service_of(client).find_user(email=NEW) is None
        if not own_file:
            assert await profiles(client) == []
        assert (await register(client, email=NEW, name="Ada"))[0] == 200
        assert await service_of(client).find_user(email=NEW) is not None


async def test_a_form_of_a_browser_gives_them_as_text(root: Path) -> None:
    async with open_app(root, **options()) as client:
        form = {"email": NEW, "password": PASSWORD, "name": "Ada", "age": "36", "next": "/"}
        response = await client.post(
            "/api/__auth/register", data=form, headers={"accept": "text/html"}
        )
        assert response.status == 303
        assert await profiles(client) == [("Ada", 36)]


async def test_with_verified_addresses_they_come_with_the_link(root: Path) -> None:
    verifying = {
        "verifyEmail": True,
        "sendEmail": f"{NAME}:send_email",
        "siteUrl": "https://example.org",
    }
    async with open_app(root, **options(**verifying)) as client:
        assert (await register(client, email=NEW))[0] == 200
        assert await profiles(client) == []
        (mail,) = await sent(sys.modules[NAME])
        (token,) = parse_qs(urlsplit(mail.link).query)["token"]
        status, body = await register(client, at="verify", token=token)
        assert (status, list(body["fields"])) == (422, ["name"])
        assert (await register(client, at="verify", token=token, name="Ada"))[0] == 200
        assert await profiles(client) == [("Ada", 0)]
