"""Pages that a build renders, and what the server does with them."""

from __future__ import annotations

import gzip
import json
import shutil
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from html import escape
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
import trio.testing

from fxtrio.app import assemble, open_pool
from fxtrio.compile.build import compile_server
from fxtrio.compile.file_checks import listed_facts
from fxtrio.config import load_config
from fxtrio.export import export_site
from fxtrio.export.place import Place, place_of
from fxtrio.export.static_pages import OpenRenderer, StaticFailed, write_static_pages
from fxtrio.manifest import load_manifest
from fxtrio.node import NodeMissing
from fxtrio.serve.cache.static_pages import INDEX
from fxtrio.ssr.frames import Rendered
from fxtrio.testing import Client
from tests.export.exporting import DataRenderer, open_data_renderer, page_with
from tests.trees import PAGE, write_tree

COUNTED = """
STATIC = True
RUNS = []

@server
async def load(request):
    RUNS.append(request.url.path)
    return {"html": f"<p>run {len(RUNS)} {'x' * 2000}</p>"}
"""
SLUGS = """
STATIC = True

async def paths():
    return [{"slug": "a"}]

@server
async def load(request):
    return {"html": f"<p>{request.path_params['slug']}</p>"}
"""
FILES = {
    "pages/index.fxl": f"{COUNTED}\n{PAGE}",
    "pages/posts/[slug].fxl": f"{SLUGS}\n{PAGE}",
    "pages/live.fxl": page_with("<p>live</p>"),
}
NAVIGATION = {"x-fx-navigation": "1"}


async def build(
    root: Path, files: dict[str, str], *, place: Place | None = None, **settings: Any
) -> int:
    write_tree(root, files)
    config = load_config(root, **settings)
    folder = root / ".fx" / "build"
    folder.mkdir(parents=True, exist_ok=True)
    manifest = compile_server(root, config, folder, mode="production")
    named = {} if place is None else {"place": place}
    return await write_static_pages(
        root, config, folder, manifest, open_renderer=open_data_renderer, **named
    )


@asynccontextmanager
async def serving(root: Path, files: dict[str, str], **settings: Any) -> AsyncIterator[Client]:
    await build(root, files, **settings)
    async with opened(root, **settings) as client:
        yield client


@asynccontextmanager
async def opened(
    root: Path, *, opening: OpenRenderer = open_data_renderer, **settings: Any
) -> AsyncIterator[Client]:
    config, folder = load_config(root, **settings), root / ".fx" / "build"
    manifest = load_manifest(folder)
    app = assemble(root, config, folder, manifest, open_renderer=opening)
    async with app.router.lifespan_context(app):
        yield Client(app)


@pytest.mark.parametrize("csp", ["off", "enforce"])
async def test_an_export_renders_them_as_files(
    tmp_path: Path, csp: str, caplog: pytest.LogCaptureFixture
) -> None:
    await build(tmp_path, FILES, csp=csp)
    config, place = (
        load_config(tmp_path, csp=csp),
        place_of("https://example.com", None, base_url=""),
    )
    await export_site(tmp_path, config, tmp_path / "out", place, open_renderer=open_data_renderer)

    assert '"exported":true' in (tmp_path / "out/index.html").read_text()
    assert not caplog.records


async def test_they_are_sent_without_their_loaders(tmp_path: Path) -> None:
    async with serving(tmp_path, FILES, csp="off") as client:
        first = await client.get("/")
        second = await client.get("/", headers={"accept-encoding": "gzip"})
        payload = await client.get("/", headers=NAVIGATION)
        with_query = await client.get("/?a=1")
        again = await client.get("/", headers={"if-none-match": first.headers["etag"]})
        head = await client.request("HEAD", "/")
        listed = await client.get("/posts/a")
        unlisted = await client.get("/posts/b")

    assert "run 1" in first.text
    assert second.headers["content-encoding"] == "gzip"
    assert gzip.decompress(second.body) == first.body
    assert payload.json()["props"]["data"]["html"].startswith("<p>run 2")
    assert "run 1" in with_query.text  # of this process, in which the loader runs now
    assert "etag" in listed.headers and "etag" not in unlisted.headers
    assert "<p>a</p>" in listed.text and "<p>b</p>" in unlisted.text
    assert (again.status_code, again.body) == (304, b"")
    assert (head.headers["content-length"], head.body) == (str(len(first.body)), b"")


async def test_each_visitor_gets_a_nonce(tmp_path: Path) -> None:
    async with serving(tmp_path, FILES, csp="enforce") as client:
        pages = [await client.get("/") for _ in range(2)]
        coded = await client.get("/", headers={"accept-encoding": "gzip"})

    nonces = [page.headers["content-security-policy"].split("'nonce-")[1][:32] for page in pages]
    assert nonces[0] != nonces[1]
    for page, nonce in zip(pages, nonces, strict=True):
        assert f'"nonce":"{nonce}"' in page.text
        assert page.headers["cache-control"] == "private, no-cache"
    assert b'"nonce":"' in gzip.decompress(coded.body)


async def test_hooks_and_settings_of_routes_still_apply(tmp_path: Path) -> None:
    hooks = """
    ASKED = []

    async def look(request):
        ASKED.append(1)
        request.state.response.headers["x-asked"] = str(len(ASKED))
    """
    settings: dict[str, Any] = {
        "route_middleware": {"pages": ["hooks:look"]},
        "cache_control": {"/": "public, max-age=9"},
    }
    async with serving(tmp_path, {**FILES, "hooks.py": hooks}, **settings) as client:
        answers = [await client.get("/") for _ in range(2)]

    counts = [int(answer.headers["x-asked"]) for answer in answers]
    assert counts[1] == counts[0] + 1
    assert "run 1" in answers[1].text
    assert answers[0].headers["cache-control"] == "public, max-age=9"


COOKIES = """
class Signing:
    def __init__(self, app):
        self.app = app

    async def __call__(self, scope, receive, send):
        async def signing(message):
            if message["type"] == "http.response.start" and (b"x-new", b"1") in scope["headers"]:
                headers = [*message["headers"], (b"set-cookie", b"session=mine")]
                message = {**message, "headers": headers}
            await send(message)

        await self.app(dict(scope), receive, signing)
"""


async def test_a_response_is_not_public_once_middleware_has_put_a_cookie_on_it(
    tmp_path: Path,
) -> None:
    cached = FILES["pages/live.fxl"].replace("@server", 'CACHE = {"revalidate": 60}\n\n@server')
    files = {**FILES, "pages/cached.fxl": cached, "cookies.py": COOKIES}
    settings: dict[str, Any] = {"csp": "off", "csrf": False, "middleware": ["cookies:Signing"]}
    async with serving(tmp_path, files, **settings) as client:
        known = {path: await client.get(path) for path in ("/", "/cached")}
        new = {path: await client.get(path, headers={"x-new": "1"}) for path in known}
        etag = new["/"].headers["etag"]
        revalidated = await client.get("/", headers={"x-new": "1", "if-none-match": etag})

    assert known["/"].headers["cache-control"] == "public, max-age=0, must-revalidate"
    assert known["/cached"].headers["cache-control"].startswith("public, max-age=0, s-maxage=60")
    for answer in (*new.values(), revalidated):
        assert answer.headers["set-cookie"] == "session=mine"
        assert answer.headers["cache-control"] == "private, no-cache"


async def test_where_a_token_is_required_no_shared_cache_keeps_a_page_without_one(
    tmp_path: Path,
) -> None:
    async with serving(tmp_path, FILES, csp="off", csrf={"mode": "strict"}) as client:
        first, second = [await client.get("/") for _ in range(2)]

    assert "set-cookie" in first.headers and "set-cookie" not in second.headers
    assert second.headers["cache-control"] == "private, no-cache"


def mistakes(**more: str) -> dict[str, str]:
    pages = {
        "cookie": "return {'html': request.cookies.get('a', '')}",
        "host": "return {'html': str(request.url)}",
        "sets": "request.state.response.set_cookie('a', 'b'); return {}",
        "fails": "raise LoaderError('no', 500)",
        "id": "return {'html': request.state.request_id}",
        "id_sent": "request.state.response.headers['x-a'] = request.state.request_id; return {}",
        "link": "request.state.response.headers['link'] = f'<{request.url}>'; return {}",
        "dated": "request.state.response.headers['date'] = 'now'; return {}",
        "item": "return {'html': str(len(request['headers']))}",
        "moved": "return redirect('/live')",
    }
    start = "from fx.runtime import redirect\nSTATIC = True\n@server\nasync def load(request):\n"
    code = {name: f"{start}    {line}\n\n{PAGE}" for name, line in pages.items()}
    code["cached"] = f'STATIC = True\nCACHE = {{"revalidate": 1}}\n\n{PAGE}'
    code["[unknown]"] = f"STATIC = True\n\n{PAGE}"
    return {**{f"pages/{name}.fxl": text for name, text in code.items()}, **more}


async def test_all_that_differs_between_requests_is_reported_at_once(tmp_path: Path) -> None:
    with pytest.raises(StaticFailed) as caught:
        await build(tmp_path, mistakes())

    assert str(caught.value).splitlines() == [
        "pages/[unknown].fxl: the pages of /[unknown] are not known. "
        "Add 'async def paths()' that returns the parameters of each page, or remove STATIC.",
        "pages/cached.fxl: has STATIC and CACHE. "
        "Remove one of them: a static page stays as it is until the next build.",
        "pages/cookie.fxl:5: its code reads request.cookies, which differs between "
        "requests. Load it in the browser, or remove STATIC.",
        "pages/dated.fxl:4: its response has the header Date. Leave it out, or remove STATIC.",
        "pages/fails.fxl:4: /fails responds with 500. Fix the error in the log above, or remove "
        "STATIC.",
        "pages/host.fxl:4: the page shows the host of request.url, which a build does not know. "
        "Name the site with 'fx build --site', or remove STATIC.",
        "pages/id.fxl:4: the page shows request.state.request_id, which differs between requests. "
        "Leave it out, or remove STATIC.",
        "pages/id_sent.fxl:4: its header x-a has request.state.request_id, which differs between "
        "requests. Leave it out, or remove STATIC.",
        "pages/item.fxl:5: its code reads request.headers, which differs between "
        "requests. Load it in the browser, or remove STATIC.",
        "pages/link.fxl:4: its header link has the host of request.url, which a build does not "
        "know. Name the site with 'fx build --site', or remove STATIC.",
        "pages/moved.fxl:4: /moved redirects to /live. Return the page's values, or remove STATIC.",
        "pages/sets.fxl:4: its response sets a cookie. Set it elsewhere, or remove STATIC.",
    ]
    assert not (tmp_path / ".fx/build" / INDEX).exists()


async def test_headers_may_have_any_bytes_that_http_has(tmp_path: Path) -> None:
    line = "request.state.response.headers['x-place'] = 'café'"
    page = (
        f"STATIC = True\n@server\nasync def load(request):\n    {line}\n    return {{}}\n\n{PAGE}"
    )
    async with serving(tmp_path, {"pages/index.fxl": page}) as client:
        answer = await client.get("/")

    assert "etag" in answer.headers
    assert answer.headers["x-place"] == "café"


ANSWERING = """
import trio
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.responses import RedirectResponse

def trusting(app):
    return TrustedHostMiddleware(app, allowed_hosts=["example.com"])

def signing_in(app):
    return RedirectResponse("/login")

def waiting(app):
    async def answer(scope, receive, send):
        if scope["type"] == "http":
            body = await receive()
            with trio.move_on_after(60):
                raise ValueError(f"{await receive()} after {body}")
        await app(scope, receive, send)
    return answer

def silent(app):
    async def answer(scope, receive, send):
        pass
    return answer
"""


@pytest.mark.parametrize(
    ("name", "cause"),
    [
        ("trusting", "a middleware responds to / with 400 before the page. Let it pass requests"),
        ("signing_in", "a middleware responds to / with 307 before the page"),
        ("silent", "/ has no response, since a middleware calls neither the app nor 'send'"),
    ],
)
async def test_a_middleware_that_answers_in_place_of_a_page_is_named(
    tmp_path: Path, name: str, cause: str
) -> None:
    files = {"pages/index.fxl": FILES["pages/index.fxl"], "around.py": ANSWERING}
    with pytest.raises(StaticFailed) as caught:
        await build(tmp_path, files, middleware=[f"around:{name}"])

    assert cause in str(caught.value)


@pytest.mark.parametrize(
    ("code", "cause"),
    [
        ("return redirect('/live')", "the route hook hooks:look responds to /"),
        ("request.headers.get('a')", "the route hook hooks:look reads request.headers"),
    ],
)
async def test_a_page_that_a_hook_may_reject_is_not_static(
    tmp_path: Path, code: str, cause: str
) -> None:
    hooks = f"from fx.runtime import redirect\n\nasync def look(request):\n    {code}\n"
    with pytest.raises(StaticFailed) as caught:
        await build(
            tmp_path, {**FILES, "hooks.py": hooks}, route_middleware={"pages": ["hooks:look"]}
        )

    assert cause in str(caught.value)


async def test_pages_of_another_build_or_other_settings_are_not_sent(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    await build(tmp_path, FILES, csp="report-only")
    found: dict[str, bool] = {}
    others: dict[str, dict[str, Any]] = {
        "same": {"csp": "enforce"},
        "other": {"csp": "off", "lang": "de"},
    }
    for name, settings in others.items():
        caplog.clear()
        async with opened(tmp_path, **settings) as client:
            found[name] = "etag" in (await client.get("/")).headers
        lines = [one.getMessage() for one in caplog.records if "static" in one.getMessage()]
        assert lines == (
            [
                "static-pages.json: the static pages were built with other settings (csp, lang), "
                "so they are rendered for each request. Run 'fx build' with the current settings."
            ]
            if name == "other"
            else []
        )
    index = tmp_path / ".fx/build" / INDEX
    index.write_text(json.dumps({**json.loads(index.read_text()), "build_id": "former"}))
    async with opened(tmp_path) as client:
        found["former"] = "etag" in (await client.get("/")).headers

    assert found == {"same": True, "other": False, "former": False}
    assert "belong to another build" in caplog.text


async def test_an_index_is_never_used_with_the_pages_of_another_build(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    data = tmp_path / "data.txt"
    code = f"""
from pathlib import Path

STATIC = True

@server
async def load(request):
    return {{"html": Path({str(data)!r}).read_text()}}
"""
    root = tmp_path / "app"
    files, folder = {"pages/index.fxl": f"{code}\n{PAGE}"}, root / ".fx/build"
    data.write_text("<p>first</p>")
    await build(root, files)
    former = (folder / INDEX).read_bytes()
    shutil.rmtree(folder)
    data.write_text("<p>the second one</p>")
    await build(root, files)
    (folder / INDEX).write_bytes(former)

    async with opened(root) as client:
        page = await client.get("/")

    assert "<p>the second one</p>" in page.text
    assert "etag" not in page.headers
    assert "belong to another build" in caplog.text


async def test_what_layouts_read_of_a_request_counts(tmp_path: Path) -> None:
    load = "@server\nasync def load(request):\n    return {'a': request.cookies.get('a')}"
    layout = f"{load}\n\nexport default function Layout({{ children }}) {{ return children; }}\n"
    with pytest.raises(StaticFailed, match=r"reads request\.cookies"):
        await build(tmp_path, {**FILES, "pages/layout.fxl": layout})


FORM = """
STATIC = True

@action
async def keep(request):
    return {"kept": True}
"""


async def test_actions_of_a_static_page_pass_the_strict_check(tmp_path: Path) -> None:
    files = {"pages/index.fxl": f"{FORM}\n{PAGE}"}
    async with serving(tmp_path, files, csrf={"mode": "strict"}) as client:
        before = await client.action("/", "keep", {})
        await client.get("/")
        token = {"x-csrf-token": client.cookies["fx-csrf"]}
        after = await client.action("/", "keep", {}, headers=token)

    assert (before.status, after.ok) == (403, True)


async def test_an_app_starts_whose_static_pages_are_none(tmp_path: Path) -> None:
    page = FILES["pages/posts/[slug].fxl"].replace('[{"slug": "a"}]', "[]")
    async with serving(tmp_path, {"pages/[slug].fxl": page}) as client:
        answer = await client.get("/b")

    assert "<p>b</p>" in answer.text


async def test_an_app_without_static_pages_is_not_imported(tmp_path: Path) -> None:
    files = {"pages/index.fxl": f"raise RuntimeError('imported')\n\n{PAGE}"}

    assert await build(tmp_path, files) == 0
    assert not (tmp_path / ".fx/build" / INDEX).exists()


async def test_below_a_path_of_the_server_pages_are_rendered(tmp_path: Path) -> None:
    async with serving(tmp_path, FILES) as client:
        scope_of: Callable[..., Any] = client.app
        sent: list[dict[str, Any]] = []

        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": b"", "more_body": False}

        async def send(message: dict[str, Any]) -> None:
            sent.append(message)

        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": "GET",
            "scheme": "http",
            "root_path": "/pre",
            "path": "/pre/posts/a",
            "raw_path": b"/pre/posts/a",
            "query_string": b"",
            "headers": [(b"host", b"a"), (b"x-fx-navigation", b"1")],
        }
        await scope_of(scope, receive, send)

    body = json.loads(b"".join(one.get("body", b"") for one in sent))
    assert body["requestedPath"] == "/pre/posts/a"


async def test_pages_in_markdown_are_static_where_content_py_says_so(tmp_path: Path) -> None:
    model = "from dataclasses import dataclass\n\n@dataclass\nclass FrontMatter:\n    title: str\n"
    files = {
        "pages/index.fxl": page_with("<p>live</p>"),
        "pages/docs/content.py": "STATIC = True\n",
        "pages/docs/a.md": "# A\n",
        "pages/docs/live/content.py": model,
        "pages/docs/live/b.md": "---\ntitle: B\n---\n\n# B\n",
        "pages/docs/checked/content.py": f"STATIC: bool = True\n{model}",
        "pages/docs/checked/c.md": "---\ntitle: C\n---\n\n# C\n",
    }

    assert await build(tmp_path, files) == 2

    config = load_config(tmp_path)
    facts = {
        source: listed_facts(tmp_path, source, config.pages_dir).static
        for source in files
        if not source.endswith(".py")
    }
    assert [source for source, is_static in facts.items() if is_static] == [
        "pages/docs/a.md",
        "pages/docs/checked/c.md",
    ]
    async with opened(tmp_path) as client:
        assert (await client.get("/docs/a")).status_code == 200
        assert (await client.get("/docs/live/b")).status_code == 200


OF_LANGUAGES = dedent("""\
    from fx.runtime import NotFound

    STATIC = True

    async def paths():
        return [{"lang": "de"}]

    @server
    async def load(request):
        if request.path_params["lang"] != "de":
            raise NotFound("no such language")
        return {}

    """)
WHOLE = {
    "pages/index.fxl": f"{COUNTED}\n{PAGE}",
    "pages/not-found.fxl": PAGE,
    "pages/docs/not-found.fxl": page_with("<p>loaded</p>"),
    "pages/docs/index.fxl": f"STATIC = True\n\n{PAGE}",
}


async def opening_without_node(
    root: Path, files: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> OpenRenderer:
    await build(root, files)
    (root / "bin").mkdir()
    monkeypatch.setenv("PATH", str(root / "bin"))
    monkeypatch.setattr("fxtrio.node._package", lambda: None)
    folder = root / ".fx" / "build"
    return partial(open_pool, folder, load_manifest(folder), load_config(root))


async def test_an_app_whose_pages_are_all_static_needs_no_node(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opening = await opening_without_node(tmp_path, WHOLE, monkeypatch)
    async with opened(tmp_path, opening=opening) as client:
        page = await client.get("/")
        queried = await client.get("/?from=mail")
        missing = await client.get("/nothing")
        loaded = await client.get("/docs/nothing")
        ready = await client.get("/readyz")

    assert (page.status, queried.status, ready.status) == (200, 200, 200)
    assert "run 1 " in page.text and "run 1 " in queried.text
    assert missing.status == loaded.status == 404
    assert "<p>plain</p>" in missing.text
    # Its loader may say something else each time, so the browser renders it.
    assert "<p>loaded</p>" not in loaded.text.partition("</div>")[0]
    assert 'type="module"' in loaded.text


@pytest.mark.parametrize(
    ("folder", "url", "stored"),
    [
        ("[lang]", "/de/nothing", False),  # it knows the language
        ("[lang]", "/fr", False),
        ("", "/de/nothing", True),
        ("", "/fr", False),
    ],
)
async def test_a_not_found_page_is_stored_where_it_cannot_differ(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: str, url: str, stored: bool
) -> None:
    files = {
        "pages/[lang]/index.fxl": OF_LANGUAGES + PAGE,
        str(Path("pages", folder, "not-found.fxl")): PAGE,
    }
    opening = await opening_without_node(tmp_path, files, monkeypatch)
    async with opened(tmp_path, opening=opening) as client:
        missing = await client.get(url)

    assert (missing.status, "<p>plain</p>" in missing.text) == (404, stored)


class ErrorRenderer(DataRenderer):
    """Renders the message of the error, as React does."""

    async def render(self, page: int, payload: bytes) -> Rendered:
        message = json.loads(payload).get("error", "")
        return Rendered(b"", f"<p>{escape(message)}</p>".encode())


@asynccontextmanager
async def open_error_renderer() -> AsyncIterator[ErrorRenderer]:
    yield ErrorRenderer()


@pytest.mark.parametrize("translate", ["", "lang:translate"])
async def test_a_translated_message_is_not_stored_in_the_language_of_the_build(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, translate: str
) -> None:
    monkeypatch.setattr(f"{__name__}.open_data_renderer", open_error_renderer)
    lang = 'def translate(request, message):\n    return "It\'s " + message\n'
    settings = json.dumps({"translate": translate})
    files = {**WHOLE, "lang.py": lang, "fx.config.json": settings}
    opening = await opening_without_node(tmp_path, files, monkeypatch)
    async with opened(tmp_path, opening=opening) as client:
        missing = await client.get("/nothing")

    stored = "<p>" in missing.text.partition("</div>")[0]
    assert (missing.status, stored) == (404, not translate)
    assert "This page could not be found." in missing.text


@pytest.mark.parametrize(
    "page",
    [page_with("<p>live</p>"), f"STATIC = True\n\n@action\nasync def save(request): ...\n\n{PAGE}"],
)
async def test_other_apps_do_need_node(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, page: str
) -> None:
    opening = await opening_without_node(tmp_path, {**WHOLE, "pages/a.fxl": page}, monkeypatch)

    with pytest.raises(NodeMissing):
        opening()


async def test_a_site_that_is_named_is_what_pages_and_middleware_see(tmp_path: Path) -> None:
    page = (
        "STATIC = True\n@server\nasync def load(request):\n    return {'html': str(request.url)}\n"
    )
    files = {"pages/index.fxl": f"{page}\n{PAGE}", "around.py": ANSWERING}
    place = place_of("https://example.com", None, base_url="")

    assert await build(tmp_path, files, place=place, middleware=["around:trusting"]) == 1
    async with opened(tmp_path, middleware=["around:trusting"]) as client:
        answer = await client.get("/", headers={"host": "example.com"})

    assert "etag" in answer.headers
    assert "https://example.com/" in answer.text


async def test_nobody_leaves_while_a_page_is_rendered(
    tmp_path: Path, autojump_clock: trio.testing.MockClock
) -> None:
    files = {"pages/index.fxl": FILES["pages/index.fxl"], "around.py": ANSWERING}

    assert await build(tmp_path, files, middleware=["around:waiting"]) == 1
