"""The page of jobs, as a browser without JavaScript uses it."""

from __future__ import annotations

import re
import sys
import traceback
from base64 import b64encode
from collections.abc import AsyncIterator
from hashlib import sha256
from html import escape
from pathlib import Path
from textwrap import dedent
from typing import Any
from urllib.parse import quote

import pytest
import trio
from starlette.applications import Starlette
from starlette.routing import Mount
from trio.testing import MockClock

from fx.db import db
from fx.testing import Client, open_app
from fxtrio.asgi_extensions import SAFE_IN_PATHS
from fxtrio.plugins import Plugin
from fxtrio.plugins.auth import get_auth
from fxtrio.plugins.jobs.plugin import JobsPlugin
from tests.jobs_page.project import ADA, EVE, PASSWORD, plugins, write_project

FORM = {"accept": "text/html"}


@pytest.fixture
async def client(tmp_path: Path) -> AsyncIterator[Client]:
    async with open_app(write_project(tmp_path)) as client:
        for email in (ADA, EVE):
            await get_auth().add_user(email, PASSWORD)
        yield client


async def log_in(client: Client, email: str = ADA) -> None:
    body = {"email": email, "password": PASSWORD}
    assert (await client.post("/api/__auth/login", json=body)).status == 200


async def jobs_page(client: Client, url: str = "/_jobs") -> str:
    answer = await client.get(url)
    assert answer.status == 200
    return answer.text


async def press(client: Client, act: str, *numbers: object) -> Any:
    return await client.post(
        f"/_jobs/{act}", data=[("job", str(number)) for number in numbers], headers=FORM
    )


async def test_it_shows_queues_errors_schedules_and_workers(
    client: Client, autojump_clock: MockClock
) -> None:
    await client.action("/", "order", {"to": "bob<script>"})
    await client.action("/", "order", {"number": 7})
    await trio.sleep(1)
    await log_in(client)
    text = await jobs_page(client)
    assert "no mail server for bob&lt;script&gt;" in text
    assert "Traceback" in text
    assert "bob<script>" not in text
    assert "<code>mails.later</code><small>(7)</small>" in text
    assert "in 1 h" in text or "in 60 min" in text
    for part in ('<td data-head="Queue">mail</td>', "<code>0 3 * * *</code>", "Europe/Berlin"):
        assert part in text
    workers = text.partition("<h2>Workers</h2>")[2]
    assert re.search(r"<tr><td[^>]*>\w+</td><td[^>]*>\d+</td><td[^>]*>0</td>", workers)


async def test_a_failed_job_is_tried_again_by_a_plain_form(
    client: Client, autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    await client.action("/", "order", {"to": "bob"})
    await trio.sleep(1)
    await log_in(client)
    monkeypatch.setattr(sys.modules["mails"], "BROKEN", False)
    answer = await press(client, "retry", 1)
    assert (answer.status, answer.headers["location"]) == (303, "/_jobs")
    await trio.sleep(1)
    assert await db.value("select state from fx_jobs where id = 1") == "done"
    assert "No job has failed." in await jobs_page(client)


async def test_one_button_retries_all_failed_jobs(
    client: Client, autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    await log_in(client)
    for to in ("ada", "bob", "ida"):
        await client.action("/", "order", {"to": to})
        await trio.sleep(1)
        text = await jobs_page(client)
        assert ("Retry all" in text) == (to != "ada")  # one alone has its own button
    assert '<button name="all" value="failed">Retry all 3</button>' in text
    monkeypatch.setattr(sys.modules["mails"], "BROKEN", False)
    answer = await client.post("/_jobs/retry", data={"all": "failed"}, headers=FORM)
    assert (answer.status, answer.headers["location"]) == (303, "/_jobs")
    await trio.sleep(1)
    assert await db.value("select count(*) from fx_jobs where state = 'done'") == 3


async def test_jobs_that_wait_or_failed_are_discarded(
    client: Client, autojump_clock: MockClock
) -> None:
    await client.action("/", "order", {"to": "bob"})
    await client.action("/", "order", {"number": 7})
    await trio.sleep(1)
    await log_in(client)
    assert (await press(client, "discard", 1, 2, "x", "9" * 30)).status == 303
    assert await db.value("select count(*) from fx_jobs") == 0
    assert "No job is waiting." in await jobs_page(client)


async def test_it_is_for_those_who_are_named_alone(
    client: Client, autojump_clock: MockClock
) -> None:
    await client.action("/", "order", {"to": "bob"})
    await trio.sleep(1)
    for path in ("/_jobs", "/_jobs/page.js"):
        answer = await client.get(path)
        assert (answer.status, answer.headers["location"]) == (303, f"/login?next={path}")
    assert (await press(client, "retry", 1)).headers["location"] == "/login?next=/_jobs"
    await log_in(client, EVE)
    assert (await client.get("/_jobs")).status == 403
    for act in ("retry", "discard"):
        assert (await press(client, act, 1)).status == 403
    assert await db.value("select state from fx_jobs") == "failed"


async def test_a_form_of_another_site_does_nothing(
    client: Client, autojump_clock: MockClock
) -> None:
    await client.action("/", "order", {"to": "bob"})
    await trio.sleep(1)
    await log_in(client)
    headers = {"sec-fetch-site": "cross-site"}
    answer = await client.post("/_jobs/discard", data={"job": "1"}, headers=headers)
    assert answer.status == 403
    assert await db.value("select count(*) from fx_jobs") == 1


async def test_no_cache_keeps_it(client: Client) -> None:
    await log_in(client)
    assert (await client.get("/_jobs")).headers["cache-control"] == "no-store"


async def test_another_path_and_base_url(tmp_path: Path, autojump_clock: MockClock) -> None:
    root = write_project(tmp_path, path="/staff/jobs")
    async with open_app(root, base_url="/app") as client:
        await get_auth().add_user(ADA, PASSWORD)
        location = (await client.get("/app/staff/jobs")).headers["location"]
        assert location == "/app/login?next=/app/staff/jobs"
        body = {"email": ADA, "password": PASSWORD}
        assert (await client.post("/app/api/__auth/login", json=body)).status == 200
        text = await jobs_page(client, "/app/staff/jobs")
        assert 'src="/app/staff/jobs/page.js"' in text
        assert '<a href="/app/">Back to the app</a>' in text
        assert (await client.get("/app/staff/jobs/page.js")).status == 200
        answer = await client.post("/app/staff/jobs/retry", data={"job": "1"}, headers=FORM)
        assert answer.headers["location"] == "/app/staff/jobs"


@pytest.mark.parametrize("name", ["a b", "100%", 'a"b', "a?b", "a\\b", "a\nb", "ä", "%2f"])
async def test_below_a_mount_whose_name_is_any_text(
    tmp_path: Path, autojump_clock: MockClock, name: str
) -> None:
    async with open_app(write_project(tmp_path)) as inner:
        await get_auth().add_user(ADA, PASSWORD)
        client = Client(Starlette(routes=[Mount("/t/{name}", inner.app)]))  # type: ignore[arg-type]
        at, mount = f"/t/{quote(name, safe=SAFE_IN_PATHS)}", f"/t/{quote(name)}"
        location = (await client.get(f"{mount}/_jobs")).headers["location"]
        assert location == f"{at}/login?next={quote(at + '/_jobs', safe='/')}"
        body = {"email": ADA, "password": PASSWORD}
        assert (await client.post(f"{mount}/api/__auth/login", json=body)).status == 200
        assert f'src="{escape(at)}/_jobs/page.js"' in await jobs_page(client, f"{mount}/_jobs")
        answer = await client.post(f"{mount}/_jobs/retry", data={"job": "1"}, headers=FORM)
        assert answer.headers["location"] == f"{at}/_jobs"


GUARD = """
    from starlette.responses import PlainTextResponse

    async def staff(request):
        if request.headers.get("x-staff") != "yes":
            return PlainTextResponse("staff only", 403)

    def plain(request):
        return None
    """


async def test_a_guard_of_the_application_decides_instead(tmp_path: Path) -> None:
    root = write_project(tmp_path)
    (root / "rules_of_staff.py").write_text(dedent(GUARD))
    settings = {"guard": "rules_of_staff:staff"}
    async with open_app(root, plugins=[{"name": "jobs", "settings": settings}]) as client:
        assert (await client.get("/_jobs")).status == 403
        assert (await client.get("/_jobs", headers={"x-staff": "yes"})).status == 200


@pytest.mark.parametrize(
    ("entries", "database", "cause"),
    [
        (plugins()[1:], True, "there are no accounts"),
        (plugins()[::-1], True, "there are no accounts"),
        (plugins(users=[]), True, "nobody is named in 'users'"),
        (plugins(guard="rules_of_staff:plain"), True, "is not an async function"),
        (plugins(), False, "Set 'database.url'"),
    ],
)
async def test_an_app_without_an_answer_to_who_may_see_it_does_not_start(
    tmp_path: Path, entries: list[Any], database: bool, cause: str
) -> None:
    root = write_project(tmp_path)
    (root / "rules_of_staff.py").write_text(dedent(GUARD))
    (root / "fx.config.json").write_text("{}")
    url: dict[str, Any] = {"database__url": "sqlite:///data/app.db"} if database else {}
    with pytest.raises(BaseException) as failed:  # in a group, where the accounts were open
        async with open_app(root, plugins=entries, **url):
            raise AssertionError("must not start")
    text = "".join(traceback.format_exception(failed.value))
    assert re.search(f"PluginFailed: plugin 'jobs': could not start: .*{re.escape(cause)}", text)


async def test_its_buttons_bring_the_token_that_strict_mode_asks_for(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with open_app(write_project(tmp_path), csrf={"mode": "strict"}) as client:
        await get_auth().add_user(ADA, PASSWORD)
        token = (await client.get("/api/__csrf")).json()["token"]
        proof = {"x-csrf-token": token, "origin": "http://testserver"}
        credentials = {"email": ADA, "password": PASSWORD}
        answer = await client.post("/api/__auth/login", json=credentials, headers=proof)
        assert answer.status == 200
        await sys.modules["mails"].later.enqueue(7, delay=3600)
        text = await jobs_page(client)
        field = re.search(r'name="_csrf_token" value="([^"]+)"', text)
        assert field is not None

        async def discard(*fields: tuple[str, str]) -> int:
            answer = await client.post("/_jobs/discard", data=[("job", "1"), *fields], headers=FORM)
            return answer.status

        assert await discard() == await discard(("_csrf_token", "x")) == 403
        assert await db.value("select count(*) from fx_jobs") == 1
        assert await discard(("_csrf_token", field[1])) == 303
        assert await db.value("select count(*) from fx_jobs") == 0


@pytest.mark.parametrize(
    ("csp", "header"),
    [
        ("enforce", "content-security-policy"),
        ("report-only", "content-security-policy-report-only"),
        ("off", ""),
    ],
)
async def test_the_page_has_a_policy_of_its_own(tmp_path: Path, csp: Any, header: str) -> None:
    async with open_app(write_project(tmp_path), csp=csp) as client:
        await get_auth().add_user(ADA, PASSWORD)
        await log_in(client)
        answer = await client.get("/_jobs")
        policies = {name for name in answer.headers if "security-policy" in name}
        assert policies == ({header} if header else set())
        if header:
            style = answer.text.partition("<style>")[2].partition("</style>")[0]
            digest = b64encode(sha256(style.encode()).digest()).decode()
            assert f"style-src 'sha256-{digest}'" in answer.headers[header]
            assert "default-src 'none'; script-src 'self'" in answer.headers[header]
            assert " style=" not in answer.text and "unsafe" not in answer.headers[header]


async def test_the_log_of_a_test_names_no_addresses_that_it_has_not_registered_yet(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with open_app(write_project(tmp_path)):
        pass
    assert caplog.text == ""


async def test_the_log_names_addresses_that_anybody_may_register(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(JobsPlugin, "isolate", Plugin.isolate)  # as in a server
    async with open_app(write_project(tmp_path)):
        pass
    assert "'Ada@Example.org' in 'users' has no account" in caplog.text
