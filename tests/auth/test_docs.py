"""docs/reference/auth.md: its project behaves as the page says, its settings are all there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import attrs
import pytest

from fx.testing import Client, SocketRejected, open_app
from fxtrio.config.validators import camel
from fxtrio.plugins.auth import AuthService, AuthSettings
from tests.auth.harness import EMAIL, PASSWORD
from tests.plugins.pages import rows, write_project

DOC = "reference/auth.md"
FORM = {"accept": "text/html"}


async def register(client: Client) -> None:
    service: AuthService = client.app.state.fx.plugins["auth"]
    await service.add_user(EMAIL, PASSWORD)


async def test_the_project_of_the_page_guards_and_signs_in(tmp_path: Path) -> None:
    write_project(DOC, tmp_path)
    async with open_app(tmp_path) as client:
        await register(client)
        assert (await client.get("/notes")).headers["location"] == "/login?next=/notes"
        assert (await client.get("/about")).status == 200
        with pytest.raises(SocketRejected):
            async with client.websocket("/notes"):
                raise AssertionError("must not open")
        login = await client.load_page("/login?next=/notes")
        fields = {"email": EMAIL, "password": PASSWORD, "next": login.data["next"]}
        signed_in = await client.post("/api/__auth/login", data=fields, headers=FORM)
        assert signed_in.headers["location"] == "/notes"
        assert (await client.load_page("/notes")).data == {"email": EMAIL}
        async with client.websocket("/notes") as socket:
            assert await socket.receive() == f"Hello {EMAIL}"


async def test_the_password_of_the_page_can_be_changed(tmp_path: Path) -> None:
    write_project(DOC, tmp_path)
    async with open_app(tmp_path) as client:
        await register(client)
        body = {"email": EMAIL, "password": PASSWORD}
        await client.post("/api/__auth/login", json=body)
        wrong = {"current": "wrong password", "new": "another password"}
        rejected = await client.action("/password", "change", wrong)
        assert rejected.status == 401
        short = await client.action("/password", "change", {"current": PASSWORD, "new": "short"})
        assert short.fields == {"password": ["Use at least 8 characters."]}
        right = {"current": PASSWORD, "new": "another password"}
        assert (await client.action("/password", "change", right)).data == {"changed": True}
        assert (await client.get("/notes")).status == 200  # this session is kept


def settings_of(settings: Any, prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for attribute in attrs.fields(type(settings)):
        value = getattr(settings, attribute.name)
        if attrs.has(type(value)):
            flat |= settings_of(value, f"{attribute.name}.")
        else:
            flat[prefix + camel(attribute.name)] = list(value) if value == () else value
    return flat


def test_every_setting_is_listed_with_its_default() -> None:
    listed = {row[0].strip("`"): json.loads(row[1].strip("`")) for row in rows(DOC, "Settings")}
    assert listed == settings_of(AuthSettings())
