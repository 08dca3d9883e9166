"""What caches may keep of a whole app that somebody is signed in to."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from fx.testing import Client, open_app
from fxtrio.plugins.auth import AuthService
from tests.auth.harness import EMAIL, KEY, PASSWORD
from tests.trees import page, write_tree

CHEAP = {"timeCost": 1, "memoryKib": 8, "parallelism": 1}
LOADER = """
    @server
    async def load(request):
        return {"message": "x"}
    """
SAYS = """
    @server
    async def load(request):
        for name in ("cache-control", "cdn-cache-control", "surrogate-control", "expires"):
            request.state.response.headers[name] = "public, max-age=600"
        return {"message": "x"}

    @action
    async def add(request):
        request.state.response.headers["cache-control"] = "public, max-age=600"
        return {"done": True}

    @action
    async def refuse(request):
        raise ActionError("no", 409)
    """
AWAY = """
    from fx.runtime import redirect

    @server
    async def load(request):
        return redirect("/plain")
    """
CACHED = """
    CACHE = {"revalidate": 60}

    @server
    async def load(request):
        return {"message": "x"}
    """
ENDPOINT = """
    from starlette.responses import Response

    def say(media, policy):
        return Response(b"x", media_type=media, headers={"cache-control": policy})

    async def endpoint(request):
        return say(request.query_params["type"], request.query_params["policy"])
    """
FILES = {
    "pages/plain.fxl": page(LOADER),
    "pages/says.fxl": page(SAYS),
    "pages/kept.fxl": page(CACHED),
    "pages/slow/index.fxl": page(LOADER),
    "pages/slow/loading.fxl": "export default function Wait() { return <p>…</p>; }\n",
    "pages/broken.fxl": page("@server\nasync def load(request):\n    raise LoaderError('x', 410)"),
    "pages/crash.fxl": page("@server\nasync def load(request):\n    raise ValueError"),
    "pages/error.fxl": "export default function Sorry() { return <p>Sorry</p>; }\n",
    "pages/not-found.fxl": "export default function Nowhere() { return <p>Nowhere</p>; }\n",
    "pages/away.fxl": page(AWAY),
    "pages/api/give.py": ENDPOINT,
    "public/a.txt": "x",
}
NAVIGATION = {"x-fx-navigation": "1"}


@pytest.fixture
async def client(tmp_path: Path) -> AsyncIterator[Client]:
    plugins: list[Any] = [{"name": "auth", "settings": {"argon2": CHEAP}}]
    root = write_tree(tmp_path, FILES)
    async with open_app(root, plugins=plugins, secret_keys=(KEY,), llms=True) as client:
        service: AuthService = client.app.state.fx.plugins["auth"]
        await service.add_user(EMAIL, PASSWORD)
        yield client


async def log_in(client: Client) -> None:
    body = {"email": EMAIL, "password": PASSWORD}
    assert (await client.post("/api/__auth/login", json=body)).status == 200


@pytest.mark.parametrize(
    "headers", [{}, NAVIGATION, {"accept": "text/markdown"}], ids=["html", "navigation", "markdown"]
)
@pytest.mark.parametrize(
    "path", ["/plain", "/says", "/kept", "/slow", "/broken", "/crash", "/nowhere", "/away"]
)
async def test_no_form_of_a_page_is_stored_for_somebody_signed_in(
    client: Client, path: str, headers: dict[str, str]
) -> None:
    await log_in(client)
    for _ in range(2):  # the second answer of a kept page is its copy
        answer = await client.get(path, headers=headers)
        policies = {name: value for name, value in answer.headers.items() if "cache-" in name}
        assert policies == {"cache-control": "no-store"}
        assert "surrogate-control" not in answer.headers
        assert "expires" not in answer.headers


async def test_a_page_may_say_who_keeps_it_for_those_who_are_not_signed_in(client: Client) -> None:
    assert (await client.get("/says")).headers["cache-control"] == "public, max-age=600"


@pytest.mark.parametrize("name", ["add", "refuse", "missing"])
async def test_no_answer_of_an_action_is_stored(client: Client, name: str) -> None:
    await log_in(client)
    assert (await client.action("/says", name)).headers["cache-control"] == "no-store"
    form = {"accept": "text/html", "content-type": "application/x-www-form-urlencoded"}
    answer = await client.post(f"/api/__actions/says/{name}", content=b"a=1", headers=form)
    assert answer.headers["cache-control"] == "no-store"


@pytest.mark.parametrize(
    ("media", "policy", "unchanged"),
    [
        ("text/html", "private, max-age=600", False),
        ("application/json", "private, max-age=600", False),
        ("text/csv", "max-age=600", False),
        ("image/png", "public, max-age=600", False),
        ("image/png", "private, max-age=600", True),
    ],
)
async def test_of_endpoints_only_private_media_set_their_own_cache_control(
    client: Client, media: str, policy: str, unchanged: bool
) -> None:
    await log_in(client)
    answer = await client.get(f"/api/give?type={media}&policy={policy}")
    assert answer.status == 200
    assert answer.headers["cache-control"] == (policy if unchanged else "no-store")


async def test_files_that_are_the_same_for_all_are_cached(client: Client) -> None:
    await log_in(client)
    answer = await client.get("/a.txt")
    assert answer.headers["cache-control"] == "public, max-age=0, must-revalidate"
