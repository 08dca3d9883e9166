"""Sessions: their tokens, their cookie, their beginning and their end."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any, cast

import pytest

from fxtrio.plugins.auth.sessions import session_cache
from fxtrio.plugins.auth.sessions.tokens import CookieSigner, key_of
from fxtrio.realtime import authenticate_websocket
from tests.auth.harness import (
    EMAIL,
    KEY,
    PASSWORD,
    Auth,
    Clock,
    carry,
    cookie_of,
    log_in,
    open_auth,
    open_auth_with_user,
    user_of,
)

DAY = 86_400


@pytest.fixture
async def auth(root: Path):
    async with open_auth_with_user(root) as auth:
        yield auth


async def test_the_cookie_over_https_is_bound_to_the_host_and_closed_to_scripts(
    auth: Auth,
) -> None:
    cookie = cookie_of(await log_in(auth.client()))
    assert cookie.key == "__Host-sid"
    assert cookie["secure"] is True
    assert cookie["httponly"] is True
    assert cookie["samesite"] == "Lax"
    assert cookie["path"] == "/"
    assert cookie["domain"] == ""


async def test_the_cookie_ends_with_the_browser_unless_its_session_is_to_last(auth: Auth) -> None:
    plain = cookie_of(await log_in(auth.client()))
    session_cache = cookie_of(await log_in(auth.client(), remember=True))
    assert (plain["max-age"], plain["expires"]) == ("", "")
    assert session_cache["max-age"] == str(7 * DAY)


async def test_over_plain_http_the_cookie_has_its_plain_name_and_is_not_taken_for_https(
    auth: Auth,
) -> None:
    response = await log_in(auth.client("http"))
    cookie = cookie_of(response)
    assert cookie.key == "sid"
    assert cookie["secure"] == ""
    async with auth.client("https") as client:
        client.headers["cookie"] = carry(response)
        assert await user_of(client) is None


async def test_behind_a_proxy_that_ends_tls_the_cookie_can_be_secure_always(root: Path) -> None:
    async with open_auth_with_user(root, secure="always") as auth:
        client = auth.client("http")
        cookie = cookie_of(await log_in(client))
        assert cookie.key == "__Host-sid"
        assert cookie["secure"] is True


async def test_the_cookie_name_can_be_chosen(root: Path) -> None:
    async with open_auth_with_user(root, cookie_name="id") as auth:
        client = auth.client()
        assert cookie_of(await log_in(client)).key == "__Host-id"
        assert await user_of(client) == EMAIL


async def test_a_signed_in_user_is_on_the_request_state(auth: Auth) -> None:
    client = auth.client()
    assert await user_of(client) is None
    await log_in(client)
    assert await user_of(client) == EMAIL


async def test_storage_holds_a_hash_of_the_token_and_never_the_token(
    auth: Auth,
) -> None:
    token = cookie_of(await log_in(auth.client())).value.partition(".")[0]
    tables = ("users", "sessions", "marks", "pending")
    rows = [await auth.rows(f"select * from fx_auth_{table}") for table in tables]
    assert EMAIL in repr(rows)
    assert key_of(token) in [row["key"] for row in rows[1]]
    assert token not in repr(rows)
    assert token.encode() not in [row["key"] for row in rows[1]]


async def test_a_login_makes_a_new_session_and_ends_the_one_the_browser_had(auth: Auth) -> None:
    client = auth.client()
    before = carry(await log_in(client))
    after = carry(await log_in(client))
    assert before != after
    assert await user_of(client) == EMAIL
    thief = auth.client()
    thief.headers["cookie"] = before
    assert await user_of(thief) is None


async def test_a_token_that_somebody_planted_before_the_login_is_not_taken_over(
    auth: Auth,
) -> None:
    planted = "__Host-sid=" + CookieSigner((KEY.encode(),)).sign("A" * 43)
    victim = auth.client()
    victim.headers["cookie"] = planted
    response = await log_in(victim)
    assert carry(response) != planted
    attacker = auth.client()
    attacker.headers["cookie"] = planted
    assert await user_of(attacker) is None


async def test_only_tokens_that_the_app_issued_and_stores_are_sessions(auth: Auth) -> None:
    client = auth.client()
    client.headers["cookie"] = "__Host-sid=" + CookieSigner((KEY.encode(),)).sign("B" * 43)
    assert await user_of(client) is None


@pytest.mark.parametrize("mangle", [str.swapcase, lambda value: value[:-1] + "!", lambda _: "x"])
async def test_a_forged_cookie_is_rejected_without_asking_the_storage(auth: Auth, mangle) -> None:
    name, _, value = carry(await log_in(auth.client())).partition("=")
    client = auth.client()
    client.headers["cookie"] = f"{name}={mangle(value)}"
    before = auth.queries
    assert await user_of(client) is None
    assert auth.queries == before


async def test_a_forged_cookie_is_reported_in_the_log_with_its_client(
    auth: Auth, caplog: pytest.LogCaptureFixture
) -> None:
    client = auth.client(host="198.51.100.7")
    client.headers["cookie"] = "__Host-sid=forged"
    await user_of(client)
    assert "forged session cookie from 198.51.100.7" in caplog.text


async def test_a_token_is_taken_from_the_cookie_and_from_nowhere_else(auth: Auth) -> None:
    _, _, value = carry(await log_in(auth.client())).partition("=")
    client = auth.client()
    headers = {"authorization": f"Bearer {value}", "x-session": value, "__Host-sid": value}
    response = await client.get("/me", params={"__Host-sid": value, "sid": value}, headers=headers)
    assert response.json() == {"email": None}


async def test_requests_without_a_cookie_ask_the_storage_nothing(auth: Auth) -> None:
    client = auth.client()
    before = auth.queries
    assert await user_of(client) is None
    client.headers["cookie"] = "theme=dark; sid=; other=1"
    assert await user_of(client) is None
    assert auth.queries == before


async def test_a_signed_in_request_asks_the_storage_once(auth: Auth) -> None:
    client = auth.client()
    await log_in(client)
    before = auth.queries
    assert await user_of(client) == EMAIL
    assert auth.queries == before + 1


async def test_requests_at_about_the_same_time_ask_the_storage_once(
    auth: Auth, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session_cache, "LIFE", 60)  # the test may be held up
    client = auth.client()
    await log_in(client)
    before = auth.queries
    for _ in range(5):
        assert await user_of(client) == EMAIL
    assert auth.queries == before + 1


async def test_a_session_that_ends_during_a_query_is_not_cached(auth: Auth) -> None:
    token = cookie_of(await log_in(auth.client())).value.partition(".")[0]
    key, sessions = key_of(token), auth.service.session_cache

    class Slow:
        async def find_session(self, key: bytes, now: float) -> object:
            found = await auth.storage.find_session(key, now)
            await auth.service.log_out(token)
            return found

    sessions.storage = cast("Any", Slow())
    assert await sessions.find(key, auth.clock()) is not None  # it was, when it was looked up
    sessions.storage = auth.storage
    assert await sessions.find(key, auth.clock()) is None


async def test_hashed_files_ask_the_storage_nothing(auth: Auth) -> None:
    client = auth.client()
    await log_in(client)
    before = auth.queries
    response = await client.get("/_fx/asset.js")
    assert response.json() == {"email": None}
    assert auth.queries == before


async def test_websockets_learn_their_user_and_ask_nothing_without_a_cookie(auth: Auth) -> None:
    cookie = carry(await log_in(auth.client()))
    before = auth.queries
    assert await auth.service.authenticate(auth.socket()) is None
    assert await auth.service.authenticate(auth.socket("theme=dark")) is None
    assert await auth.service.authenticate(auth.socket("__Host-sid=forged")) is None
    assert auth.queries == before
    user = await auth.service.authenticate(auth.socket(f"theme=dark; {cookie}"))
    assert user is not None
    assert user.email == EMAIL
    assert auth.queries == before + 1


async def test_authenticate_websocket_of_the_framework_asks_the_plugin(auth: Auth) -> None:
    cookie = carry(await log_in(auth.client()))
    before = auth.queries
    assert await authenticate_websocket(auth.socket()) is None
    assert await authenticate_websocket(auth.socket("theme=dark")) is None
    assert auth.queries == before
    user = await authenticate_websocket(auth.socket(cookie))
    assert user is not None
    assert user.email == EMAIL


async def test_the_middleware_leaves_websockets_alone(auth: Auth) -> None:
    cookie = carry(await log_in(auth.client()))
    seen = []

    async def endpoint(scope, receive, send) -> None:
        seen.append(scope)

    before = auth.queries
    socket = auth.socket(cookie)
    await auth.plugin.middleware(endpoint)(socket.scope, None, None)  # type: ignore[arg-type]
    assert "user" not in seen[0].get("state", {})
    assert auth.queries == before


async def test_a_session_ends_after_the_idle_time_on_the_server(auth: Auth) -> None:
    client = auth.client()
    await log_in(client)
    auth.clock.advance(7 * DAY - 1)
    assert await user_of(client) == EMAIL
    auth.clock.advance(7 * DAY)
    assert await user_of(client) is None


async def test_every_use_moves_the_end_of_a_session(auth: Auth) -> None:
    client = auth.client()
    await log_in(client)
    for _ in range(4):
        auth.clock.advance(5 * DAY)
        assert await user_of(client) == EMAIL


async def test_a_session_ends_at_its_greatest_age_however_busy_it_is(auth: Auth) -> None:
    client = auth.client()
    await log_in(client)
    for _ in range(29):
        auth.clock.advance(DAY)
        assert await user_of(client) == EMAIL
    auth.clock.advance(DAY)
    assert await user_of(client) is None


async def test_the_new_end_is_written_only_when_it_has_moved_far_enough(auth: Auth) -> None:
    client = auth.client()
    await log_in(client)
    auth.clock.advance(0.09 * 7 * DAY)
    before = auth.queries
    await user_of(client)
    assert auth.queries == before + 1
    auth.clock.advance(0.02 * 7 * DAY)
    auth.service.session_cache.forget()
    await user_of(client)
    assert auth.queries == before + 3


async def test_a_lasting_cookie_is_renewed_with_its_session_and_never_cached(
    auth: Auth,
) -> None:
    client = auth.client()
    first = carry(await log_in(client, remember=True))
    auth.clock.advance(3 * DAY)
    response = await client.get("/cached")
    assert carry(response) == first
    assert cookie_of(response)["max-age"] == str(7 * DAY)
    assert response.headers.get_list("cache-control") == ["no-store"]


async def test_a_cookie_of_the_browsers_session_is_not_sent_again(auth: Auth) -> None:
    client = auth.client()
    await log_in(client)
    auth.clock.advance(3 * DAY)
    assert "set-cookie" not in (await client.get("/me")).headers


async def test_responses_for_signed_in_users_are_not_stored_whatever_they_say(auth: Auth) -> None:
    client = auth.client()
    assert "cache-control" not in (await client.get("/me")).headers
    await log_in(client)
    assert (await client.get("/me")).headers["cache-control"] == "no-store"
    assert (await client.get("/cached")).headers["cache-control"] == "no-store"


async def test_logging_out_ends_the_session_on_the_server_and_in_the_browser(auth: Auth) -> None:
    client = auth.client()
    cookie = carry(await log_in(client))
    response = await client.post("/api/__auth/logout")
    assert response.json() == {"ok": True}
    assert cookie_of(response)["max-age"] == "0"
    assert cookie_of(response).value == ""
    assert await user_of(client) is None
    client.headers["cookie"] = cookie
    assert await user_of(client) is None


async def test_logging_out_everywhere_ends_the_sessions_of_all_browsers(auth: Auth) -> None:
    phone, laptop, stranger = auth.client(), auth.client(), auth.client()
    await auth.service.add_user("grace@example.org", PASSWORD)
    await log_in(phone)
    await log_in(laptop)
    await log_in(stranger, email="grace@example.org")
    assert (await phone.post("/api/__auth/logout-all")).json() == {"ok": True}
    assert await user_of(phone) is None
    assert await user_of(laptop) is None
    assert await user_of(stranger) == "grace@example.org"


async def test_a_new_password_ends_all_sessions(auth: Auth) -> None:
    client = auth.client()
    await log_in(client)
    account = await auth.service.storage.find_account(EMAIL)
    assert account is not None
    await auth.service.set_password(account.user, "another password")
    assert await user_of(client) is None
    assert (await log_in(client)).status_code == 401
    assert (await log_in(client, password="another password")).status_code == 200


async def test_the_oldest_session_ends_when_there_are_too_many(root: Path) -> None:
    async with open_auth_with_user(root, max_sessions=2) as auth:
        clients = [auth.client() for _ in range(3)]
        for client in clients:
            await log_in(client)
            auth.clock.advance(1)
        assert [await user_of(client) for client in clients] == [None, EMAIL, EMAIL]


async def test_sessions_survive_a_restart(root: Path) -> None:
    clock = Clock()
    async with open_auth_with_user(root, clock=clock) as auth:
        cookie = carry(await log_in(auth.client()))
    async with open_auth(root, clock=clock) as auth:
        client = auth.client()
        client.headers["cookie"] = cookie
        assert await user_of(client) == EMAIL


async def test_an_older_key_still_verifies_and_its_cookie_is_signed_again(root: Path) -> None:
    clock = Clock()
    new = "a new secret key for the tests"
    async with open_auth_with_user(root, clock=clock) as auth:
        old_cookie = carry(await log_in(auth.client()))
    async with open_auth(root, clock=clock, keys=(new, KEY)) as auth:
        client = auth.client()
        client.headers["cookie"] = old_cookie
        renewed = carry(await client.get("/me"))
        assert renewed != old_cookie
    async with open_auth(root, clock=clock, keys=(new,)) as auth:
        client = auth.client()
        client.headers["cookie"] = renewed
        assert await user_of(client) == EMAIL
        client.headers["cookie"] = old_cookie
        assert await user_of(client) is None


async def test_sessions_that_are_over_are_deleted(auth: Auth) -> None:
    await log_in(auth.client())
    auth.clock.advance(8 * DAY)
    await log_in(auth.client())
    assert len(await auth.rows("select key from fx_auth_sessions")) == 1


async def test_the_life_of_a_session_is_logged_without_anything_that_signs_in(
    auth: Auth, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, "fx.auth"):
        client = auth.client()
        await log_in(client, password="wrong password")
        token = cookie_of(await log_in(client)).value.partition(".")[0]
        await client.post("/api/__auth/logout")
    text = caplog.text
    assert "from 203.0.113.5 failed" in text
    assert "signed in, session" in text
    assert "ended" in text
    for secret in (token, PASSWORD, "wrong password", EMAIL):
        assert secret not in text


async def test_the_token_is_only_ever_in_the_cookie(auth: Auth) -> None:
    client = auth.client()
    response = await log_in(client)
    token = cookie_of(response).value.partition(".")[0]
    for answer in (response, await client.get("/api/__auth/session"), await client.get("/me")):
        assert token not in answer.text
        assert token not in str(answer.url)
        assert token not in answer.headers.get("location", "")
