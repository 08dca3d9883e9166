"""Registering where mail is verified, in a whole app with a function that sends nothing."""

from __future__ import annotations

import logging
import re
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import pytest
import trio

from fx.testing import Client, open_app
from fxtrio.plugins.auth import AuthService
from fxtrio.plugins.auth.errors import AuthMailMissing
from fxtrio.plugins.auth.plugin import AuthPlugin
from fxtrio.plugins.auth.registration.confirmation import MAILS
from fxtrio.plugins.protocol import PluginFailed
from tests.auth.harness import EMAIL, KEY, PASSWORD, Clock
from tests.trees import page, write_tree

NEW = "new@example.org"
CHOSEN = "a password of mine"
MODULE = """
    SENT = []

    async def send_email(message):
        SENT.append(message)
    """
SETTINGS: dict[str, Any] = {
    "argon2": {"timeCost": 1, "memoryKib": 8, "parallelism": 1},
    "verifyEmail": True,
    "sendEmail": "mails_of_the_test:send_email",
    "siteUrl": "https://example.org",
}


def options(**changes: Any) -> dict[str, Any]:
    plugins = [{"name": "auth", "settings": {**SETTINGS, **changes}}]
    return {"plugins": plugins, "secret_keys": (KEY,), "base_url": "/app"}


@pytest.fixture
async def client(tmp_path: Path) -> AsyncIterator[Client]:
    write_tree(tmp_path, {"pages/index.fxl": page(""), "mails_of_the_test.py": MODULE})
    try:
        async with open_app(tmp_path, **options()) as client:
            await service_of(client).add_user(EMAIL, PASSWORD)
            yield client
    finally:
        sys.modules.pop("mails_of_the_test", None)


def service_of(client: Client) -> AuthService:
    found: AuthService = client.app.state.fx.plugins["auth"]
    return found


async def post(client: Client, name: str, **body: Any) -> tuple[int, Any]:
    answer = await client.post(f"/app/api/__auth/{name}", json=body)
    return answer.status, answer.json()


async def sent(number: int) -> list[Any]:
    """Return all mails, as soon as there are so many."""
    module = sys.modules["mails_of_the_test"]
    with trio.fail_after(10):
        while len(module.SENT) < number:  # a job sends them
            await trio.lowlevel.checkpoint()
    mails: list[Any] = module.SENT
    return mails


async def token_of(client: Client) -> str:
    assert await post(client, "register", email=NEW, password=CHOSEN) == (200, {"ok": True})
    (mail,) = await sent(1)
    token: str
    (token,) = parse_qs(urlsplit(mail.link).query)["token"]
    return token


async def test_an_account_begins_with_the_link_and_the_password(client: Client) -> None:
    token = await token_of(client)
    (mail,) = await sent(1)
    assert (mail.kind, mail.to) == ("verify", NEW)
    assert mail.link == f"https://example.org/app/verify?token={token}"
    assert mail.link in mail.text
    assert (await post(client, "login", email=NEW, password=CHOSEN))[0] == 401
    assert await post(client, "verify", token=token, password=CHOSEN) == (200, {"ok": True})
    assert (await post(client, "login", email=NEW, password=CHOSEN))[0] == 200


async def test_a_taken_address_is_distinguished_from_a_new_one_by_nothing_but_the_mail(
    client: Client,
) -> None:
    service = service_of(client)

    async def register(email: str) -> list[Any]:
        before = service.storage.statistics().queries, service.hasher.computed
        answer = await post(client, "register", email=email, password=CHOSEN)
        login = await post(client, "login", email=email, password=CHOSEN)
        after = service.storage.statistics().queries, service.hasher.computed
        return [answer, login, after[0] - before[0], after[1] - before[1]]

    assert await register(EMAIL) == await register(NEW)
    taken, free = await sent(2)
    assert (taken.kind, taken.to, taken.link) == ("taken", EMAIL, "https://example.org/app/login")
    assert (free.kind, free.to) == ("verify", NEW)
    assert (await post(client, "login", email=EMAIL, password=PASSWORD))[0] == 200


async def test_a_link_needs_the_password_that_was_chosen(client: Client) -> None:
    token = await token_of(client)
    for _ in range(5):
        status, answer = await post(client, "verify", token=token, password="another password")
        assert (status, answer["code"]) == (401, "credentials")
    assert (await post(client, "verify", token=token, password=CHOSEN))[0] == 429
    assert await service_of(client).storage.find_account(NEW) is None


async def test_a_link_works_once_and_for_its_time(client: Client) -> None:
    token = await token_of(client)
    (plugin,) = client.app.plugins
    assert isinstance(plugin, AuthPlugin)
    now, plugin.clock = plugin.clock(), Clock()
    assert isinstance(plugin.clock, Clock)
    plugin.clock.now = now + 90_000
    assert (await post(client, "verify", token=token, password=CHOSEN))[0] == 410
    plugin.clock.now = now
    assert (await post(client, "verify", token=token, password=CHOSEN))[0] == 200
    assert (await post(client, "verify", token=token, password=CHOSEN))[0] == 410


@pytest.mark.parametrize("token", ["", "x", "x" * 5000, None, ["a"], 7])
async def test_invented_links_create_nothing(client: Client, token: Any) -> None:
    assert (await post(client, "verify", token=token, password=CHOSEN))[0] in (401, 410)


async def test_of_two_registrations_the_first_that_is_confirmed_counts(client: Client) -> None:
    tokens: list[str] = []
    for password in (CHOSEN, "of somebody else"):
        await post(client, "register", email=NEW, password=password)
        mail = (await sent(len(tokens) + 1))[-1]
        tokens.append(parse_qs(urlsplit(mail.link).query)["token"][0])
    assert (await post(client, "verify", token=tokens[0], password=CHOSEN))[0] == 200
    assert (await post(client, "verify", token=tokens[1], password="of somebody else"))[0] == 410
    assert (await post(client, "login", email=NEW, password="of somebody else"))[0] == 401


async def test_an_address_gets_few_mails_and_nobody_learns_when_that_is_over(
    client: Client,
) -> None:
    for _ in range(MAILS + 2):
        assert await post(client, "register", email=NEW, password=CHOSEN) == (200, {"ok": True})
    await post(client, "register", email="last@example.org", password=CHOSEN)
    mails = await sent(MAILS + 1)
    assert [mail.to for mail in mails] == [NEW] * MAILS + ["last@example.org"]


async def test_a_form_comes_back_to_its_page_with_the_token(client: Client) -> None:
    token = await token_of(client)
    headers = {"accept": "text/html"}
    url = "/app/api/__auth/verify"
    wrong = {"token": token, "password": "another password"}
    answer = await client.post(url, data=wrong, headers=headers)
    assert answer.headers["location"] == f"/app/verify?error=credentials&token={token}"
    answer = await client.post(url, data={"token": token, "password": CHOSEN}, headers=headers)
    assert answer.headers["location"] == "/app/login"


async def test_neither_log_nor_storage_has_what_opens_a_link(
    client: Client, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    token = await token_of(client)
    await post(client, "verify", token=token, password=CHOSEN)
    (mail,) = await sent(1)
    assert token not in caplog.text
    assert token not in repr(mail)


@pytest.mark.parametrize("missing", ["sendEmail", "siteUrl"])
async def test_missing_settings_are_reported_at_the_start(tmp_path: Path, missing: str) -> None:
    write_tree(tmp_path, {"pages/index.fxl": page("")})
    with pytest.raises(BaseException) as failed:  # in a group, or alone
        async with open_app(tmp_path, **options(**{missing: ""})):
            raise AssertionError("must not start")
    causes = []
    error: BaseException | None = failed.value
    while error is not None:
        causes.append(error)
        error = error.exceptions[0] if isinstance(error, BaseExceptionGroup) else error.__cause__
    [reason] = [str(cause) for cause in causes if isinstance(cause, AuthMailMissing)]
    assert f"'verifyEmail' needs '{missing}'" in reason


async def test_a_durable_job_tries_again_to_send_the_mail(tmp_path: Path) -> None:
    module = """
        from fx.jobs import job

        SENT, FAILED = [], []

        @job(retries=3, backoff=0.01)
        async def send_email(to, subject, text):
            if not FAILED:
                FAILED.append(to)
                raise OSError("the mail server is away")
            SENT.append((to, text))
        """
    write_tree(
        tmp_path,
        {"pages/index.fxl": page("    import mails_of_the_test"), "mails_of_the_test.py": module},
    )
    database = {"url": "sqlite:///app.db"}
    try:
        async with open_app(tmp_path, database=database, **options()) as client:
            assert await post(client, "register", email=NEW, password=CHOSEN) == (200, {"ok": True})
            ((to, text),) = await sent(1)
            found = re.search(r"\?token=(\S+)", text)
            assert to == NEW
            assert found is not None
            done = await post(client, "verify", token=unquote(found[1]), password=CHOSEN)
            assert done == (200, {"ok": True})
    finally:
        sys.modules.pop("mails_of_the_test", None)


async def test_a_durable_job_that_nothing_runs_is_reported_at_the_start(tmp_path: Path) -> None:
    module = "from fx.jobs import job\n\n@job\ndef send_email(to, subject, text): ...\n"
    write_tree(tmp_path, {"pages/index.fxl": page(""), "mails_of_the_test.py": module})
    try:
        with pytest.raises(PluginFailed, match=r"send_email\.enqueue: .* Set 'database\.url'"):
            async with open_app(tmp_path, **options()):
                raise AssertionError("must not start")
    finally:
        sys.modules.pop("mails_of_the_test", None)
