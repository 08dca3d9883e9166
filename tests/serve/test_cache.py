"""Pages with ``CACHE``: which responses are cached, for how long, and what each visitor gets."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import trio
from trio.testing import MockClock

from fx.testing import Client, open_app
from fxtrio.ssr.errors import SsrDown
from fxtrio.ssr.frames import Rendered
from tests.trees import LAYOUT, page, write_tree

COUNTED = """
    CACHE = {"revalidate": 60}
    seen = []

    @server
    async def load(request):
        seen.append(request.url.query)
        return {"n": len(seen)}
    """

NAVIGATION = {"x-fx-navigation": "1"}


class Renderer:
    """Renders a script with the nonce, as a `<Script>` of a page does."""

    async def render(self, page: int, payload: bytes) -> Rendered:
        nonce = re.findall(rb'"nonce":"(\w+)"', payload)
        number = re.findall(rb'"n":(\d+)', payload)
        script = b'<script nonce="%b">1</script>' % nonce[0] if nonce else b""
        return Rendered(b"<title>T</title>", script + b"<p>%b</p>" % b"".join(number))


@asynccontextmanager
async def open_renderer() -> AsyncIterator[Renderer]:
    yield Renderer()


def opened(
    root: Path, python: str = COUNTED, **settings: Any
) -> AbstractAsyncContextManager[Client]:
    """Open an app of one page, as `fx serve` would."""
    write_tree(root, {"pages/index.fxl": page(python)})
    settings.setdefault("open_renderer", open_renderer)
    settings.setdefault("mode", "production")
    return open_app(root, **settings)


async def states(client: Client, *urls: str, headers: dict[str, str] | None = None) -> list[str]:
    """Return what became of each request: ``hit``, ``stale``, ``miss`` or ``pass``."""
    return [
        (await client.get(url, headers=headers)).headers.get("x-fx-cache", "none") for url in urls
    ]


async def test_a_response_is_cached_for_its_time_and_then_revalidated_in_the_background(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with opened(tmp_path) as client:
        first = await client.get("/")
        await trio.sleep(59)
        second = await client.get("/")
        await trio.sleep(2)
        third = await client.get("/")
        await trio.testing.wait_all_tasks_blocked()
        fourth = await client.get("/")
    found = [(r.headers["x-fx-cache"], r.headers["age"]) for r in (first, second, third, fourth)]
    assert found == [("miss", "0"), ("hit", "59"), ("stale", "61"), ("hit", "0")]
    assert ["<p>1</p>" in r.text for r in (first, second, third)] == [True] * 3
    assert "<p>2</p>" in fourth.text


async def test_a_stale_response_is_sent_for_so_long_and_no_longer(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with opened(tmp_path, cache={"stale": 30}) as client:
        await client.get("/")
        await trio.sleep(91)
        expired = await client.get("/")
    assert expired.headers["x-fx-cache"] == "miss"
    assert "<p>2</p>" in expired.text


async def test_each_visitor_gets_a_nonce_and_a_token_of_their_own(tmp_path: Path) -> None:
    async with opened(tmp_path) as client:
        placeholder = client.app.site.nonce.decode()
        answers = []
        for _ in range(3):
            client.cookies.clear()
            answers.append(await client.get("/"))
    nonces, tokens = set(), set()
    for answer in answers:
        policy = answer.headers["content-security-policy-report-only"]
        nonce = re.findall(r"'nonce-(\w+)'", policy)[0]
        assert f'<script nonce="{nonce}">1</script>' in answer.text
        assert f'"nonce":"{nonce}"' in answer.text
        assert placeholder not in answer.text + str(answer.headers)
        assert int(answer.headers["content-length"]) == len(answer.body)
        nonces.add(nonce)
        tokens.add(answer.headers["set-cookie"])
    assert [answer.headers["x-fx-cache"] for answer in answers] == ["miss", "hit", "hit"]
    assert len(nonces) == len(tokens) == 3


async def test_who_has_the_response_already_gets_304_without_a_policy(tmp_path: Path) -> None:
    async with opened(tmp_path) as client:
        etag = (await client.get("/")).headers["etag"]
        same = await client.get("/", headers={"if-none-match": f'"other", {etag}'})
        any_ = await client.get("/", headers={"if-none-match": "*"})
        other = await client.get("/", headers={"if-none-match": 'W/"other"'})
    assert re.fullmatch(r'W/"[0-9a-f]{24}"', etag)
    for response in (same, any_):
        assert (response.status, response.body) == (304, b"")
        assert response.headers["etag"] == etag
        assert "x-request-id" in response.headers
        # The policy's nonce would replace the one that the stored body was sent with.
        assert not [name for name in response.headers if name.startswith("content-")]
    assert other.status == 200


async def test_two_processes_have_the_same_etag(tmp_path: Path) -> None:
    found = []
    for _ in range(2):
        async with opened(tmp_path) as client:
            found.append((await client.get("/")).headers["etag"])
    assert found[0] == found[1]


@pytest.mark.parametrize(
    ("settings", "policy"),
    [
        ({}, "private, no-cache"),
        ({"csp": "off"}, "public, max-age=0, s-maxage=60, stale-while-revalidate=60"),
        ({"csp": "off", "csrf": {"mode": "strict"}}, "private, no-cache"),
    ],
)
async def test_shared_caches_may_keep_html_that_has_nothing_of_a_visitor(
    tmp_path: Path, settings: dict[str, Any], policy: str
) -> None:
    async with opened(tmp_path, **settings) as client:
        await client.get("/")
        client.cookies.clear()
        html = await client.get("/")
        payload = await client.get("/", headers=NAVIGATION)
    assert html.headers["cache-control"] == policy
    assert ("set-cookie" in html.headers) is policy.startswith("private")
    assert payload.headers["cache-control"] == "private, no-cache"
    assert "set-cookie" not in payload.headers
    assert payload.headers["vary"] == html.headers["vary"] == "x-fx-navigation, accept-encoding"


async def test_the_navigation_payload_counts_down_for_how_long_it_may_be_used(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with opened(tmp_path) as client:
        first = await client.get("/", headers=NAVIGATION)
        await trio.sleep(20)
        second = await client.get("/", headers=NAVIGATION)
        await trio.sleep(50)
        third = await client.get("/", headers=NAVIGATION)
        html = await client.get("/")
    assert [r.json()["ttl"] for r in (first, second, third)] == [60, 40, 0]
    assert [r.json()["props"]["data"]["n"] for r in (first, second, third)] == [1, 1, 1]
    assert first.headers["etag"] == second.headers["etag"]
    assert '"ttl":0' in html.text


async def test_html_payload_and_markdown_are_cached_apart(tmp_path: Path) -> None:
    python = (
        COUNTED
        + """
    async def to_markdown(ctx):
        return f"# {(await ctx.run_loader())['n']}"
    """
    )
    async with opened(tmp_path, python, llms=True) as client:
        markdown = {"accept": "text/markdown"}
        answers = [
            await client.get(url, headers=headers)
            for url, headers in [
                ("/", {}),
                ("/", NAVIGATION),
                ("/", markdown),
                ("/index.md", {}),
            ]
            * 2
        ]
    assert [r.headers["x-fx-cache"] for r in answers] == ["miss"] * 4 + ["hit"] * 4
    assert [r.headers["content-type"].partition(";")[0] for r in answers[4:]] == [
        "text/html",
        "application/vnd.fx.page+json",
        "text/markdown",
        "text/markdown",
    ]
    assert [r.text.strip() for r in answers[6:]] == ["# 3", "# 4"]
    assert (
        answers[4].headers["vary"]
        == answers[6].headers["vary"]
        == "x-fx-navigation, accept, accept-encoding"
    )


async def test_head_is_answered_from_what_get_has_cached(tmp_path: Path) -> None:
    async with opened(tmp_path) as client:
        whole = await client.get("/")
        head = await client.request("HEAD", "/")
    assert (head.status, head.body, head.headers["x-fx-cache"]) == (200, b"", "hit")
    assert head.headers["etag"] == whole.headers["etag"]
    assert head.headers["content-length"] == whole.headers["content-length"]


async def test_queries_are_cached_apart_whatever_the_order_of_their_names(tmp_path: Path) -> None:
    async with opened(tmp_path) as client:
        found = await states(
            client, "/?b=1&a=2", "/?a=2&b=1", "/?a=2&&b=1&", "/?a=1&a=2", "/?a=2&a=1"
        )
        loaded = await client.load_page("/?b=1&a=2")
    assert found == ["miss", "hit", "hit", "miss", "miss"]
    assert loaded.payload["requestedPath"] == "/?a=2&b=1"


async def test_hosts_are_cached_apart(tmp_path: Path) -> None:
    async with opened(tmp_path) as client:
        await client.get("/")
        client.host = "other.example"
        assert await states(client, "/", "/") == ["miss", "hit"]


async def test_nothing_of_the_first_visitor_s_request_reaches_the_loader(tmp_path: Path) -> None:
    python = """
        CACHE = {"revalidate": 60}

        @server
        async def load(request):
            scope = request.scope
            return {"headers": sorted(name.decode() for name, _ in scope["headers"]),
                    "client": scope["client"], "method": scope["method"]}
        """
    sent = {"cookie": "a=1", "authorization": "x", "x-forwarded-host": "evil", "user-agent": "u"}
    async with opened(tmp_path, python) as client:
        loaded = await client.load_page("/", headers=sent)
    assert loaded.data == {"headers": ["host", "x-fx-navigation"], "client": None, "method": "GET"}


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("request.cookies.get('a')", "a layout's, reads request.cookies"),
        ("request.headers.get('accept-language')", "a layout's, reads request.headers"),
        ("request.client", "a layout's, reads request.client"),
        ("getattr(request.state, 'user', None)", "a layout's, reads request.state.user"),
        ("request.state.response.set_cookie('seen', 'yes')", "a layout's, sets a cookie"),
        (
            "request.state.response.headers.update({'vary': 'dnt'})",
            "a layout's, sets the header Vary",
        ),
        (
            "request.state.response.headers.update({'cache-control': 'private'})",
            "a layout's, sets Cache-Control: private",
        ),
    ],
)
async def test_what_depends_on_the_visitor_is_not_cached_and_the_log_says_why_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, line: str, reason: str
) -> None:
    python = f"""
        CACHE = {{"revalidate": 60}}

        @server
        async def load(request):
            {line}
            return {{"cookie": dict(request.scope["headers"]).get(b"cookie", b"").decode()}}
        """
    async with opened(tmp_path, python) as client:
        loaded = []
        for cookie in ("who=ann", "who=bob"):
            client.cookies.clear()
            loaded.append(await client.load_page("/", headers={"cookie": cookie}))
        found = await states(client, "/", "/?other")
    assert [each.data["cookie"] for each in loaded] == ["who=ann", "who=bob"]
    assert [each.payload["ttl"] for each in loaded] == [0, 0]
    assert found == ["pass", "pass"]
    warnings = [r.getMessage() for r in caplog.records if "CACHE" in r.getMessage()]
    assert len(warnings) == 1
    assert warnings == [
        f"pages/index.fxl: CACHE has no effect: its code, or {reason}. A cached response is the "
        "same for all visitors: load the data that differs in the browser, or remove CACHE."
    ]


async def test_what_the_application_sets_on_the_response_is_cached_with_it(tmp_path: Path) -> None:
    python = """
        CACHE = {"revalidate": 60}

        @server
        async def load(request):
            request.state.response.headers["x-shop"] = "books"
            request.state.response.headers["x-frame-options"] = "DENY"
            request.state.response.headers["cache-control"] = "public, max-age=5"
            return {}
        """
    async with opened(tmp_path, python) as client:
        answers = [await client.get("/") for _ in range(2)]
    for answer, state in zip(answers, ("miss", "hit"), strict=True):
        assert answer.headers["x-fx-cache"] == state
        assert answer.headers["x-shop"] == "books"
        assert answer.headers.getlist("x-frame-options") == ["DENY"]
        assert answer.headers.getlist("cache-control") == ["public, max-age=5"]
        assert "set-cookie" not in answer.headers


@pytest.mark.parametrize(
    ("line", "status"),
    [
        ("raise LoaderError('gone', 404)", 404),
        ("raise ValueError", 500),
        ("return {}, 201", 201),
        ("return redirect('/elsewhere')", 303),
    ],
)
async def test_only_status_200_is_cached(tmp_path: Path, line: str, status: int) -> None:
    python = f"""
        from fx.runtime import redirect

        CACHE = {{"revalidate": 60}}

        @server
        async def load(request):
            {line}
        """
    async with opened(tmp_path, python) as client:
        answers = [await client.get("/") for _ in range(2)]
    assert [r.status for r in answers] == [status] * 2
    assert {r.headers["x-fx-cache"] for r in answers} <= {"miss", "pass"}
    assert not [r for r in answers if "etag" in r.headers]


async def test_a_page_that_the_browser_has_to_render_is_not_cached(tmp_path: Path) -> None:
    class Down(Renderer):
        down = True

        async def render(self, page: int, payload: bytes) -> Rendered:
            if self.down:
                raise SsrDown("no process runs")
            return await super().render(page, payload)

    renderer = Down()

    @asynccontextmanager
    async def open_down() -> AsyncIterator[Renderer]:
        yield renderer

    async with opened(tmp_path, open_renderer=open_down) as client:
        before = await client.get("/")
        renderer.down = False
        after = await client.get("/")
    assert (before.status, after.status) == (200, 200)
    assert "<p>" not in before.text and "etag" not in before.headers
    assert "<p>2</p>" in after.text and "etag" in after.headers


@pytest.mark.parametrize("settings", [{"mode": "development"}, {"cache": {"bytes": 0}}])
async def test_in_development_and_without_room_nothing_is_cached(
    tmp_path: Path, settings: dict[str, Any]
) -> None:
    async with opened(tmp_path, **settings) as client:
        assert await states(client, "/", "/") == ["none", "none"]
        assert (await client.load_page("/")).data == {"n": 3}


async def test_a_page_without_cache_is_never_cached(tmp_path: Path) -> None:
    async with opened(tmp_path, COUNTED.replace("CACHE", "SHELF")) as client:
        assert await states(client, "/", "/") == ["none", "none"]
        assert (await client.get("/")).headers["cache-control"] == "private, no-cache"


async def test_a_layout_s_loader_counts_as_the_page_s(tmp_path: Path) -> None:
    layout = """
        @server
        async def load(request):
            return {"theme": request.cookies.get("theme", "light")}
        """
    write_tree(tmp_path, {"pages/layout.fxl": page(layout, LAYOUT)})
    async with opened(tmp_path) as client:
        loaded = await client.load_page("/", headers={"cookie": "theme=dark"})
        assert loaded.layout_data == {"theme": "dark"}
        assert await states(client, "/") == ["pass"]


HOOK = """
    from starlette.responses import PlainTextResponse

    async def banned(connection):
        if b"banned" in dict(connection.scope["headers"]).get(b"cookie", b""):
            return PlainTextResponse("no", 403)

    async def counting(connection):
        headers = connection.state.response.headers
        headers["x-name"] = dict(connection.scope["headers"]).get(b"x-name", b"nobody").decode()

    async def members(connection):
        if "member" not in connection.cookies:
            return PlainTextResponse("members only", 401)

    async def closed(connection):
        if not dict(connection.scope["headers"]).get(b"cookie"):
            return PlainTextResponse("sign in", 401)
    """


async def test_hooks_guard_cached_responses_for_each_visitor(tmp_path: Path) -> None:
    write_tree(tmp_path, {"cache_hook_a.py": HOOK})
    hooks = {"pages": ["cache_hook_a.banned"]}
    async with opened(tmp_path, route_middleware=hooks) as client:
        assert await states(client, "/", "/") == ["miss", "hit"]
        for headers in ({}, NAVIGATION):
            client.cookies["banned"] = "1"
            rejected = await client.get("/", headers=headers)
            assert (rejected.status, rejected.text) == (403, "no")
        client.cookies.clear()
        assert await states(client, "/") == ["hit"]


async def test_what_a_hook_sets_on_the_response_is_each_visitor_s_own(tmp_path: Path) -> None:
    write_tree(tmp_path, {"cache_hook_d.py": HOOK})
    python = """
        CACHE = {"revalidate": 60}

        @server
        async def load(request):
            request.state.response.headers["cache-control"] = "public, max-age=5"
            return {}
        """
    hooks = {"pages": ["cache_hook_d.counting"]}
    async with opened(tmp_path, python, route_middleware=hooks) as client:
        for name, state in (("ann", "miss"), ("bob", "hit")):
            answer = await client.get("/", headers={"x-name": name})
            assert answer.headers["x-fx-cache"] == state
            assert answer.headers.getlist("x-name") == [name]
            assert answer.headers.getlist("cache-control") == ["public, max-age=5"]
            assert "set-cookie" not in answer.headers


@pytest.mark.parametrize("hook", ["members", "closed"])
async def test_a_page_that_is_not_open_to_all_is_not_cached(tmp_path: Path, hook: str) -> None:
    write_tree(tmp_path, {"cache_hook_b.py": HOOK})
    hooks = {"pages": [f"cache_hook_b.{hook}"]}
    async with opened(tmp_path, route_middleware=hooks) as client:
        client.cookies["member"] = "1"
        assert await states(client, "/", "/") == ["pass", "pass"]
        client.cookies.clear()
        stranger = await client.get("/")
    assert (stranger.status, "x-fx-cache" in stranger.headers) == (401, False)


@pytest.mark.parametrize(
    ("line", "causes", "remedies"),
    [
        ("", "", "let the hook use only the path"),
        (
            "request.client",
            "its code, or a layout's, reads request.client and ",
            "load the data that differs in the browser and let the hook use only the path",
        ),
    ],
)
async def test_the_log_names_the_hook_that_reads_something_of_the_visitor(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, line: str, causes: str, remedies: str
) -> None:
    asking = """
        async def asking(connection):
            connection.cookies.get("a")
            connection.headers.get("b")
        """
    write_tree(tmp_path, {"cache_hook_e.py": asking})
    python = f"""
        CACHE = {{"revalidate": 60}}

        @server
        async def load(request):
            {line}
            return {{}}
        """
    hooks = {"pages": ["cache_hook_e.asking"]}
    async with opened(tmp_path, python, route_middleware=hooks) as client:
        assert await states(client, "/", "/") == ["pass", "pass"]
    (warning,) = [r.getMessage() for r in caplog.records if "CACHE" in r.getMessage()]
    assert warning == (
        f"pages/index.fxl: CACHE has no effect: {causes}the route hook cache_hook_e.asking reads "
        "request.cookies, request.headers. A cached response is the same for all visitors: "
        f"{remedies}, or remove CACHE."
    )


async def test_the_log_says_when_it_is_a_hook_that_sets_a_cookie(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    setting = """
        async def setting(connection):
            connection.state.response.set_cookie("seen", "yes")
        """
    write_tree(tmp_path, {"cache_hook_f.py": setting})
    async with opened(tmp_path, route_middleware={"pages": ["cache_hook_f.setting"]}) as client:
        assert await states(client, "/", "/") == ["pass", "pass"]
    assert "CACHE has no effect: a route hook sets a cookie." in caplog.text


PUBLIC = """
    CACHE = {"revalidate": 60}

    @server
    async def load(request):
        return {"n": 1}
    """
MINE = """
    CACHE = {"revalidate": 60}

    @server
    async def load(request):
        user = request.state.user
        return {"email": "" if user is None else user.email}
    """


async def test_a_signed_in_visitor_gets_cached_responses_and_adds_none(
    tmp_path: Path,
) -> None:
    write_tree(
        tmp_path,
        {
            "pages/news.fxl": page(PUBLIC),
            "pages/open/mine.fxl": page(MINE),
            "pages/closed.fxl": page(PUBLIC),
        },
    )
    cheap = {"timeCost": 1, "memoryKib": 8, "parallelism": 1}
    auth = {"argon2": cheap, "publicPaths": ["/news", "/open"]}
    async with opened(
        tmp_path,
        plugins=[{"name": "auth", "settings": auth}],
        route_middleware={"pages": ["fxtrio.plugins.auth.require_user"]},
    ) as client:
        stranger = await client.load_page("/open/mine")
        assert (await client.get("/closed")).status == 303
        service = client.app.state.fx.plugins["auth"]
        await service.add_user("ann@example.org", "correct horse battery")
        signed = await client.post(
            "/api/__auth/login",
            json={"email": "ann@example.org", "password": "correct horse battery"},
        )
        assert signed.status == 200
        assert await states(client, "/news", "/news") == ["miss", "hit"]
        assert await states(client, "/closed", "/closed") == ["pass", "pass"]
        mine = await client.load_page("/open/mine")
        client.cookies.clear()
        assert await states(client, "/news", "/open/mine") == ["hit", "pass"]
        assert (await client.get("/closed")).status == 303
        again = await client.load_page("/open/mine")
    assert [each.data["email"] for each in (stranger, mine, again)] == ["", "ann@example.org", ""]


async def test_public_pages_are_cached_in_every_form_although_require_user_guards_pages(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    write_tree(tmp_path, {"pages/closed.fxl": page(PUBLIC)})
    async with opened(
        tmp_path,
        llms={"enabled": True, "auto_convert": True},
        plugins=[{"name": "auth", "settings": {"publicPaths": ["/"]}}],
        route_middleware={"pages": ["fxtrio.plugins.auth.require_user"]},
    ) as client:
        for headers in ({}, NAVIGATION, {"accept": "text/markdown"}):
            assert await states(client, "/", "/", headers=headers) == ["miss", "hit"]
        agent = await client.get("/closed", headers={"accept": "text/markdown"})
        assert (agent.status, (await client.get("/closed")).status) == (401, 303)
    assert "CACHE" not in caplog.text
