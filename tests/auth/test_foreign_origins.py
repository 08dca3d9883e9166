"""What `cors` opens to other origins: of the auth plugin nothing that is not named."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fx.testing import Client, open_app
from tests.auth.harness import EMAIL, PASSWORD
from tests.trees import page, write_tree

ORIGIN = "https://app.example"
CHEAP = {"timeCost": 1, "memoryKib": 8, "parallelism": 1}
FILES = {
    "pages/index.fxl": page(""),
    "pages/api/time.py": "async def get(request):\n    return {}\n\npost = get\n",
}
BODY = {"email": EMAIL, "password": PASSWORD}
HEADERS = {"origin": ORIGIN, "sec-fetch-site": "cross-site"}


async def opened(client: Client, url: str) -> tuple[bool, bool, int]:
    """Tell whether a preflight is let in, an answer may be read, and the status of a POST."""
    asks = {**HEADERS, "access-control-request-method": "POST"}
    preflight = await client.request("OPTIONS", url, headers=asks)
    answer = await client.post(url, json=BODY, headers=HEADERS)
    allows = "access-control-allow-origin"
    return allows in preflight.headers, allows in answer.headers, answer.status


@pytest.mark.parametrize(
    ("routes", "own", "login"),
    [
        ([], (True, True, 200), (False, False, 403)),
        (["/api/*"], (True, True, 200), (False, False, 403)),
        (["/*"], (True, True, 200), (False, False, 403)),
        (["/api/__auth/*"], (False, False, 403), (True, True, 401)),
        (["/api/__auth/login"], (False, False, 403), (True, True, 401)),
        (["/api/__auth/session"], (False, False, 403), (False, False, 403)),
    ],
)
async def test_the_auth_endpoints_are_open_to_another_origin_only_where_they_are_named(
    tmp_path: Path, routes: list[str], own: Any, login: Any
) -> None:
    plugins = [{"name": "auth", "settings": {"argon2": CHEAP}}]
    cors = {"origins": [ORIGIN], "credentials": True, "routes": routes}
    async with open_app(write_tree(tmp_path, FILES), plugins=plugins, cors=cors) as client:
        assert await opened(client, "/api/time") == own
        assert await opened(client, "/api/__auth/login") == login
