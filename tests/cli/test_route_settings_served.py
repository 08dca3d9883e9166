"""Settings of single routes, as a client sees them over a socket."""

from __future__ import annotations

from pathlib import Path

import pytest
import trio

from tests.cli.test_build_and_serve import built, serving

__all__ = ["built"]

OTHER = {"origin": "https://other.example", "sec-fetch-site": "cross-site"}


@pytest.fixture(autouse=True)
def settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FX_CORS__ORIGINS", "https://other.example")
    monkeypatch.setenv("FX_CACHE_CONTROL", '{"/about": "public, max-age=60"}')
    monkeypatch.setenv("FX_RATE_LIMITS", '[{"route": "/", "limit": "2/hour"}]')


@pytest.mark.node
async def test_routes_have_their_settings_over_a_socket(built: Path) -> None:
    command = ["fxtrio", "serve", "--port", "PORT"]
    action = "/api/__actions/index/add_note"
    with trio.fail_after(120):
        async with serving(command, cwd=built) as (client, _):
            about = await client.get("/about")
            preflight = await client.options(
                action, headers={**OTHER, "access-control-request-method": "POST"}
            )
            called = await client.post(action, json={"text": "x"}, headers=OTHER)
            first = await client.get("/")
            rejected = await client.get("/", headers={"x-forwarded-for": "9.9.9.9"})
            payload = await client.get("/", headers={"x-fx-navigation": "1"})

    assert about.headers["cache-control"] == "public, max-age=60"
    assert "set-cookie" not in about.headers
    assert preflight.status_code == 200
    for response in (preflight, called):
        assert response.headers["access-control-allow-origin"] == "https://other.example"
    assert (called.status_code, first.status_code) == (200, 200)
    assert (rejected.status_code, payload.status_code) == (429, 429)
    assert "Too many requests" in rejected.text  # on the site's own error page
    assert "<main" in rejected.text
    assert payload.json()["boundary"] == "pages/error.fxl"
    assert int(payload.headers["retry-after"]) > 3000
    assert payload.headers["ratelimit"].startswith('"2/3600s";r=0;t=')


@pytest.mark.node
async def test_addresses_are_those_that_a_trusted_proxy_reports(built: Path) -> None:
    command = ["fxtrio", "serve", "--port", "PORT", "--proxy-headers", "127.0.0.1"]
    with trio.fail_after(120):
        async with serving(command, cwd=built) as (client, _):
            found = [
                (await client.get("/", headers={"x-forwarded-for": address})).status_code
                for address in ("9.9.9.9", "9.9.9.9", "9.9.9.9", "8.8.8.8")
            ]
    assert found == [200, 200, 429, 200]
