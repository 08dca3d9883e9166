"""``/api/__auth/…`` as HTTP clients and plain HTML forms see it."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.types import Message

from fxtrio.plugins.auth.endpoints import local_target
from tests.auth.harness import EMAIL, PASSWORD, Auth, log_in, open_auth_with_user, user_of

PAGE = {"accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
FORM = {"email": EMAIL, "password": PASSWORD}


@pytest.fixture
async def auth(tmp_path: Path):
    async with open_auth_with_user(tmp_path) as auth:
        yield auth


async def submit(client: httpx.AsyncClient, name: str, **fields: str) -> httpx.Response:
    """Send a form as a browser without JavaScript does."""
    return await client.post(f"/api/__auth/{name}", data=fields, headers=PAGE)


async def test_the_session_endpoint_says_who_is_signed_in(auth: Auth) -> None:
    client = auth.client()
    response = await client.get("/api/__auth/session")
    assert response.json() == {"ok": True, "user": None}
    assert response.headers["cache-control"] == "no-store"
    await log_in(client)
    user = (await client.get("/api/__auth/session")).json()["user"]
    assert user.keys() == {"id", "email"}
    assert user["email"] == EMAIL


async def test_a_form_signs_in_and_leads_home(auth: Auth) -> None:
    client = auth.client()
    response = await submit(client, "login", **FORM)
    assert (response.status_code, response.headers["location"]) == (303, "/")
    assert await user_of(client) == EMAIL


async def test_a_form_leads_back_to_where_the_user_wanted_to_go(auth: Auth) -> None:
    response = await submit(auth.client(), "login", **FORM, next="/notes?tag=a")
    assert response.headers["location"] == "/notes?tag=a"


@pytest.mark.parametrize(
    "target", ["https://evil.example/", "//evil.example/", "/\\evil.example", "notes", "/\tx"]
)
async def test_a_form_never_leads_to_another_site(auth: Auth, target: str) -> None:
    response = await submit(auth.client(), "login", **FORM, next=target)
    assert response.headers["location"] == "/"


async def test_a_form_with_a_wrong_password_leads_back_with_the_reason(auth: Auth) -> None:
    wrong = {"email": EMAIL, "password": "wrong password"}
    response = await submit(auth.client(), "login", **wrong, next="/notes?tag=a")
    assert response.status_code == 303
    location = urlsplit(response.headers["location"])
    assert location.path == "/login"
    assert parse_qs(location.query) == {"error": ["credentials"], "next": ["/notes?tag=a"]}
    assert "ada" not in response.headers["location"]


async def test_a_form_may_ask_for_a_lasting_session(auth: Auth) -> None:
    response = await submit(auth.client(), "login", **FORM, remember="on")
    assert "Max-Age=604800" in response.headers["set-cookie"]


async def test_a_form_registers_and_leads_to_the_login(auth: Auth) -> None:
    fields = {"email": "new@example.org", "password": PASSWORD}
    response = await submit(auth.client(), "register", **fields)
    assert response.headers["location"] == "/login"
    wrong = await submit(auth.client(), "register", email="x", password="y")
    assert wrong.headers["location"] == "/register?error=invalid"


async def test_a_form_signs_out(auth: Auth) -> None:
    client = auth.client()
    await log_in(client)
    response = await submit(client, "logout", next="/bye")
    assert response.headers["location"] == "/bye"
    assert await user_of(client) is None


async def test_a_form_sent_by_a_script_is_answered_with_json(auth: Auth) -> None:
    response = await auth.client().post("/api/__auth/login", data=FORM)
    assert response.json()["user"]["email"] == EMAIL


async def test_a_multipart_form_works_too(auth: Auth) -> None:
    parts: dict[str, Any] = {name: (None, value) for name, value in FORM.items()}
    response = await auth.client().post("/api/__auth/login", files=parts)
    assert response.status_code == 200


async def test_everything_is_below_the_base_url(tmp_path: Path) -> None:
    async with open_auth_with_user(tmp_path, base_url="/app") as auth:
        client = auth.client()
        response = await client.post("/app/api/__auth/login", data=FORM, headers=PAGE)
        assert response.headers["location"] == "/app/"
        assert (await client.get("/app/me")).json() == {"email": EMAIL}
        wrong = await client.post("/app/api/__auth/login", data={"email": "x"}, headers=PAGE)
        assert wrong.headers["location"] == "/app/login?error=credentials"
        assert (await client.post("/api/__auth/login", json=FORM)).status_code == 404


@pytest.mark.parametrize("name", ["login", "logout", "logout-all", "register"])
async def test_links_change_nothing(auth: Auth, name: str) -> None:
    client = auth.client()
    await log_in(client)
    assert (await client.get(f"/api/__auth/{name}")).status_code == 405
    assert await user_of(client) == EMAIL


@pytest.mark.parametrize(
    "value", [None, 0, 1.5, True, [], [EMAIL], {"$ne": 1}, {}, "", "\0", "x" * 5000, "' OR 1=1 --"]
)
@pytest.mark.parametrize("field", ["email", "password"])
async def test_values_of_other_kinds_are_no_credentials(
    auth: Auth, field: str, value: object
) -> None:
    response = await auth.client().post("/api/__auth/login", json={**FORM, field: value})
    assert response.status_code == 401
    assert response.json()["code"] == "credentials"
    assert "set-cookie" not in response.headers


@pytest.mark.parametrize(
    "content", [b"null", b"[]", b'"x"', b"{", b"[" * 10_000, b"\xff", b'{"email":"\\ud800"}']
)
async def test_a_body_that_is_not_an_object_is_rejected(auth: Auth, content: bytes) -> None:
    headers = {"content-type": "application/json"}
    response = await auth.client().post("/api/__auth/login", content=content, headers=headers)
    assert response.status_code == 400


async def test_signing_out_without_a_session_is_fine_but_not_everywhere(auth: Auth) -> None:
    client = auth.client()
    assert (await client.post("/api/__auth/logout")).status_code == 200
    response = await client.post("/api/__auth/logout-all")
    assert response.status_code == 401
    assert response.json()["code"] == "signed-out"


@pytest.mark.parametrize(
    ("content", "status"),
    [(b"{", 400), (b"[1]", 400), (b'"x"', 400), (b"x" * 20_000, 413), (b"{}", 401), (b"", 401)],
)
async def test_broken_and_oversized_bodies_are_rejected_as_json(
    auth: Auth, content: bytes, status: int
) -> None:
    response = await auth.client().post(
        "/api/__auth/login", content=content, headers={"content-type": "application/json"}
    )
    assert response.status_code == status
    assert response.json()["ok"] is False
    assert response.headers["cache-control"] == "no-store"


async def test_a_body_in_chunks_is_rejected_as_soon_as_it_is_too_large(auth: Auth) -> None:
    sent: list[Message] = []
    received = 0

    async def receive() -> Message:
        nonlocal received
        received += 1
        return {"type": "http.request", "body": b"x" * 1000, "more_body": True}

    async def send(message: Message) -> None:
        sent.append(message)

    await auth.asgi(
        {
            "type": "http",
            "method": "POST",
            "scheme": "https",
            "path": "/api/__auth/login",
            "query_string": b"",
            "headers": [(b"content-type", b"application/json")],
        },
        receive,
        send,
    )
    assert sent[0]["status"] == 413
    assert received == 17


@given(st.text(st.sampled_from(list("/\\abc:?#%.\t\n @")), max_size=12))
def test_whatever_is_accepted_as_a_target_stays_on_this_site(text: str) -> None:
    target = local_target(text)
    if target is not None:
        parts = urlsplit(target.replace("\\", "/"))
        assert (parts.scheme, parts.netloc) == ("", "")
        assert target.startswith("/")


@pytest.mark.parametrize("value", [None, 7, ["/x"], "", "/" + "x" * 3000])
def test_a_redirect_target_must_be_a_path(value: object) -> None:
    assert local_target(value) is None
