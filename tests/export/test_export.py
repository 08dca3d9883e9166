"""A project in, a folder of files out: which files, what is in them, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fxtrio.export import ExportFailed, ExportFolderInvalid
from fxtrio.export.folder import require_replaceable
from tests.export.exporting import contents, export, page_with
from tests.trees import LAYOUT, PAGE, page

HOME = page_with('<a href="/docs/a">A</a> <a href="/docs/b/c#part">C</a> <a href="/file.txt">f</a>')
DOCS = """
async def paths():
    return [{"slug": "a"}, {"slug": ["b", "c"]}]

@server
async def load(request):
    return {"html": f'<h1 id="part">{request.path_params["slug"]}</h1>', "at": str(request.url)}

export default function Page({ data }) { return <p>{data.message}</p>; }
"""
SITE = {"pages/index.fxl": HOME, "pages/docs/[...slug].fxl": DOCS, "public/file.txt": "text"}


async def failures(root: Path, files: dict[str, str], **options: object) -> list[str]:
    with pytest.raises(ExportFailed) as caught:
        await export(root, files, **options)  # type: ignore[arg-type]  # of any type here
    assert not (root / "out").exists()
    return str(caught.value).splitlines()


async def test_each_page_is_a_folder_with_its_document_and_its_payload(tmp_path: Path) -> None:
    exported = await export(tmp_path, SITE)

    files = contents(tmp_path / "out")
    assert exported.pages == ("/", "/docs/a", "/docs/b/c")
    assert b'<h1 id="part">b/c</h1>' in files["docs/b/c/index.html"]
    payload = json.loads(files["docs/b/c/__fx.json"])
    assert payload["props"]["data"]["at"] == "https://example.com/docs/b/c"
    assert payload["page"]["exported"] is True
    assert payload["requestedPath"] == "/docs/b/c"
    assert files["file.txt"] == b"text"
    assert b"https://example.com/docs/a" in files["sitemap.xml"]
    assert b"Sitemap: https://example.com/sitemap.xml" in files["robots.txt"]
    assert b"This page could not be found." in files["404.html"]


@pytest.mark.parametrize("needing", ["index", "not-found", ""])
async def test_a_site_without_scripts_has_payloads_if_a_render_brings_scripts(
    tmp_path: Path, needing: str
) -> None:
    mark = "<!--fx:scripts-->"
    files = {
        f"pages/{name}.fxl": page_with(f"{mark if name == needing else ''}<p>{name}</p>")
        for name in ("index", "about", "not-found")
    }

    await export(tmp_path, files, scripts=False)

    written = contents(tmp_path / "out")
    payloads = {name for name in written if name.endswith("__fx.json")}
    assert payloads == ({"__fx.json", "about/__fx.json"} if needing else set())
    document = written["404.html" if needing == "not-found" else "index.html"]
    assert (b"__fx_data" in document) is (needing != "")
    assert b"__fx_data" not in written["about/index.html"]


async def test_deferred_values_are_settled(tmp_path: Path) -> None:
    deferring = """
    from fx.runtime import defer

    async def find():
        return "late"

    @server
    async def load(request):
        return {"html": "early", "late": defer(find)}

    export default function Page({ data }) { return <p>{data.html}</p>; }
    """
    await export(tmp_path, {"pages/index.fxl": deferring})

    files = contents(tmp_path / "out")
    data = {"html": "early", "late": "late"}
    assert json.loads(files["__fx.json"])["props"]["data"] == data
    assert json.dumps(data, separators=(",", ":")).encode() in files["index.html"]


async def test_an_export_is_the_same_again_and_whatever_the_number_of_jobs(tmp_path: Path) -> None:
    await export(tmp_path, SITE, llms=True)
    first = contents(tmp_path / "out")
    await export(tmp_path, SITE, llms=True, jobs=1)

    assert contents(tmp_path / "out") == first


async def test_below_a_base_all_urls_begin_with_it(tmp_path: Path) -> None:
    files = {
        **SITE,
        "pages/index.fxl": page_with('<a href="/sub/docs/a">A</a>'),
        "pages/old.fxl": f"from fx.runtime import redirect\n\n@server\nasync def load(request):\n"
        f"    raise redirect('/docs/a', 301)\n\n{PAGE}",
    }

    await export(tmp_path, files, base="/sub")

    written = contents(tmp_path / "out")
    assert json.loads(written["docs/a/__fx.json"])["page"]["base"] == "/sub"
    assert b"/sub/old /sub/docs/a 301\n" in written["_redirects"]
    assert b'location = "/sub/old" {\n    return 301 "/sub/docs/a";' in written["_hosts/nginx.conf"]
    assert b"redir /sub/old /sub/docs/a 301" in written["_hosts/Caddyfile"]
    assert b'content="0; url=/sub/docs/a"' in written["old/index.html"]
    assert json.loads(written["old/__fx.json"]) == {"ok": True, "redirect": "/docs/a"}
    assert b"https://example.com/sub/docs/a" in written["sitemap.xml"]
    assert b"/sub/old<" not in written["sitemap.xml"]
    assert "robots.txt" not in written


async def test_markdown_and_the_lists_for_agents_name_all_pages(tmp_path: Path) -> None:
    hook = "async def to_markdown(ctx):\n    return f'# Doc {ctx.path}\\n'\n\n"

    await export(tmp_path, {**SITE, "pages/docs/[...slug].fxl": hook + DOCS.lstrip()}, llms=True)

    files = contents(tmp_path / "out")
    assert files["docs/b/c.md"] == b"# Doc /docs/b/c\n"
    assert b"- [Doc /docs/b/c](https://example.com/docs/b/c.md)" in files["llms.txt"]
    assert b"# Doc /docs/a\n" in files["llms-full.txt"]


async def test_files_of_the_public_folder_replace_those_that_are_written(tmp_path: Path) -> None:
    await export(tmp_path, {**SITE, "public/robots.txt": "own", "public/404.html": "gone"})

    files = contents(tmp_path / "out")
    assert (files["robots.txt"], files["404.html"]) == (b"own", b"gone")


async def test_what_needs_a_server_is_an_error_with_its_place(tmp_path: Path) -> None:
    found = await failures(
        tmp_path,
        {
            "pages/index.fxl": f"@action\nasync def save(request): ...\n\n{PAGE}",
            "pages/live.fxl": f"async def websocket(ws): ...\n\n{PAGE}",
            "pages/feed.fxl": f"@stream\nasync def ticks(request):\n    yield 1\n\n{PAGE}",
            "pages/[id].fxl": PAGE,
            "pages/api/hello.py": "async def get(request): ...\n",
            "actions/mail.py": "from fx.runtime import action\n\n\n@action\n"
            "async def send(request): ...\n",
        },
    )

    assert [line.partition(". ")[0] for line in found] == [
        "actions/mail.py: its actions need a server",
        "pages/[id].fxl: the pages of /[id] are not known",
        "pages/api/hello.py: an endpoint needs a server",
        "pages/feed.fxl:2: the stream 'ticks' needs a server",
        "pages/index.fxl:2: the action 'save' needs a server",
        "pages/live.fxl:1: a WebSocket needs a server",
    ]


READING = """
@server
async def load(request):
    {read}
    return {{}}

export default function Page({{ data }}) {{ return <p>{{data.message}}</p>; }}
"""


@pytest.mark.parametrize(
    ("read", "cause"),
    [
        ("request.cookies", "its code reads request.cookies, which a file"),
        ("request.headers", "its code reads request.headers, which a file"),
        ("request.query_params", "its code reads request.query_params, which a file"),
        ("request.client", "its code reads request.client, which a file"),
        ("request.state.response.set_cookie('a', 'b')", "its response sets the cookie 'a'"),
        (
            "request.state.response.headers['vary'] = 'x-who'",
            "its response differs by the header 'x-who'",
        ),
        ("return {'id': request.state.request_id}", "the page shows request.state.request_id"),
        ("raise LoaderError('no', 418)", "/one responds with 418 as HTML"),
        ("raise KeyError('a')", "/one responds with 500 as HTML"),
    ],
)
async def test_what_a_render_shows_is_an_error_with_its_place(
    tmp_path: Path, read: str, cause: str
) -> None:
    files = {"pages/index.fxl": page_with("<p>1</p>"), "pages/one.fxl": READING.format(read=read)}

    [found] = await failures(tmp_path, files)

    place = "pages/one.fxl:3" if cause.startswith("its code reads") else "pages/one.fxl"
    assert found.startswith(f"{place}: {cause}")
    exported = await export(tmp_path, files, allow_missing=True)
    assert exported.pages == ("/",)
    assert [str(one) for one in exported.left_out] == [found]


async def test_what_another_file_reads_is_named_with_its_line(tmp_path: Path) -> None:
    who = """
        def who(request):
            return request.cookies
    """
    layout = READING.format(read="who(request)")
    files = {"pages/in/index.fxl": page_with("<p>1</p>"), "who.py": who}
    files["pages/in/layout.fxl"] = f"from who import who\n{layout}"

    [found] = await failures(tmp_path, files)

    assert found.startswith(f"pages/in/index.fxl: {tmp_path}/who.py:2 reads request.cookies, which")


async def test_a_hook_that_rejects_a_page_is_named(tmp_path: Path) -> None:
    hook = """
    from fx.runtime import redirect

    def members(request):
        return redirect("/login") if request.url.path == "/members" else None
    """
    files = {"hooks.py": hook, "pages/index.fxl": PAGE, "pages/members.fxl": PAGE}

    [found] = await failures(tmp_path, files, route_middleware={"pages": ["hooks.members"]})

    assert found.startswith(
        "pages/members.fxl: the route hook hooks.members responds with 303 and '/login'."
    )


async def test_a_hook_that_answers_itself_is_named_whatever_its_status(tmp_path: Path) -> None:
    hook = """
    from starlette.responses import HTMLResponse

    def closed(request):
        return HTMLResponse("<p>Closed</p>") if request.url.path == "/shop" else None
    """
    files = {"hooks.py": hook, "pages/index.fxl": PAGE, "pages/shop.fxl": PAGE}

    [found] = await failures(tmp_path, files, route_middleware={"pages": ["hooks.closed"]})

    assert found.startswith("pages/shop.fxl: the route hook hooks.closed responds with 200.")


async def test_middleware_that_sends_nothing_is_an_error_of_the_page(tmp_path: Path) -> None:
    middleware = """
    class Silent:
        def __init__(self, app):
            self.app = app

        async def __call__(self, scope, receive, send):
            if scope.get("path") != "/shop":
                await self.app(scope, receive, send)
    """
    files = {"silent.py": middleware, "pages/index.fxl": PAGE, "pages/shop.fxl": PAGE}

    [found] = await failures(tmp_path, files, middleware=["silent:Silent"])

    assert found.startswith("pages/shop.fxl: /shop has no response, since a middleware")


async def test_each_language_has_its_own_not_found_page(tmp_path: Path) -> None:
    paths = "async def paths():\n    return [{'lang': 'de'}, {'lang': 'fr'}]\n"
    loader = """
        @server
        async def load(request):
            return {"html": f"<p>nothing in {request.path_params['lang']}</p>"}
        """
    files = {
        "pages/index.fxl": PAGE,
        "pages/[lang]/layout.fxl": page(loader, LAYOUT),
        "pages/[lang]/index.fxl": page(paths),
        "pages/[lang]/not-found.fxl": page(loader),
        "pages/en/index.fxl": PAGE,
        "pages/en/not-found.fxl": page_with("<p>nothing in English</p>"),
    }
    await export(tmp_path, files, base_url="/sub")

    written = contents(tmp_path / "out")
    for name, text in {"de": "nothing in de", "fr": "nothing in fr", "en": "in English"}.items():
        assert text.encode() in written[f"{name}/404.html"]
        assert f"/sub/{name}/* /sub/{name}/404.html 404\n".encode() in written["_redirects"]
    assert b'error_page 404 "/sub/de/404.html";' in written["_hosts/nginx.conf"]
    assert b"handle /sub/de/* {\n" in written["_hosts/Caddyfile"]
    assert b"This page could not be found." in written["404.html"]


async def test_not_found_pages_are_written_beside_pages_with_parameters(tmp_path: Path) -> None:
    any_page = page("async def paths():\n    return [{'slug': 'a'}]\n")
    files = {
        "pages/[slug].fxl": any_page,
        "pages/not-found.fxl": page_with("<p>nothing here</p>"),
        "pages/de/[slug].fxl": any_page,
        "pages/de/not-found.fxl": page_with("<p>nothing below</p>"),
    }
    await export(tmp_path, files)

    written = contents(tmp_path / "out")
    assert b"nothing here" in written["404.html"]
    assert b"nothing below" in written["de/404.html"]


async def test_a_not_found_page_for_one_visitor_is_an_error_and_may_be_left_out(
    tmp_path: Path,
) -> None:
    read = "@server\nasync def load(request):\n    return {'html': request.cookies.get('a')}\n\n"
    files = {"pages/index.fxl": PAGE, "pages/not-found.fxl": read + PAGE}

    [found] = await failures(tmp_path, files)
    await export(tmp_path, files, allow_missing=True)

    assert found.startswith("pages/not-found.fxl:3: its code reads request.cookies")
    assert b"This page could not be found." in contents(tmp_path / "out")["404.html"]


PATHS = """
async def paths():
    {body}

export default function Page() {{ return <p>1</p>; }}
"""


@pytest.mark.parametrize(
    ("body", "cause"),
    [
        ("return None", "paths() returned None"),
        ("return {'id': 'a'}", "paths() returned {'id': 'a'}"),
        ("return ['a']", "paths() returned 'a': it is not a dict"),
        ("return [{'slug': 'a'}]", "paths() returned {'slug': 'a'}: 'slug' is not a parameter"),
        ("return [{}]", "paths() returned {}: 'id' is missing"),
        ("return [{'id': None}]", "paths() returned {'id': None}: 'id' is None, not a text"),
        ("return [{'id': 'a/b'}]", "paths() returned {'id': 'a/b'}: 'id' has the part 'a/b',"),
        ("return [{'id': '..'}]", "paths() returned {'id': '..'}: 'id' has the part '..',"),
        ("return [{'id': 'a\\n'}]", "paths() returned {'id': 'a\\n'}: 'id' has the part 'a\\n',"),
        ("return [{'id': 'x' * 300}]", "paths() returned {'id': 'xxxxxx"),
        ("return [{'id': 'taken'}]", "paths() returned {'id': 'taken'}, but /taken is served by"),
        ("raise KeyError('no')", "paths() failed: KeyError('no')"),
        ("return ({'id': 1 // n} for n in (1, 0))", "paths() failed: ZeroDivisionError("),
    ],
)
async def test_paths_that_are_none_are_errors_with_their_place(
    tmp_path: Path, body: str, cause: str
) -> None:
    files = {"pages/[id].fxl": PATHS.format(body=body), "pages/taken.fxl": PAGE}

    [found] = await failures(tmp_path, files)

    assert found.startswith(f"pages/[id].fxl:1: {cause}")


async def test_an_optional_parameter_may_be_absent(tmp_path: Path) -> None:
    paths = PATHS.format(body="return [{}, {'id': 7}, {'id': 'a/b'}]")

    exported = await export(tmp_path, {"pages/x/[[...id]].fxl": paths})

    assert exported.pages == ("/x", "/x/7", "/x/a/b")


async def test_two_files_at_one_place_are_an_error(tmp_path: Path) -> None:
    files = {
        "pages/a.fxl": PAGE,
        "public/a/index.html": "x",
        "pages/b/c.fxl": PAGE,
        "public/b": "x",
        "pages/d.fxl": PAGE,
        "public/d": "x",
    }

    found = await failures(tmp_path, files)

    assert [line.partition(". ")[0] for line in found] == [
        "pages/a.fxl: a/index.html in the export is a file of public/a/index.html already",
        "pages/b/c.fxl: b/c/__fx.json in the export is below the file public/b",
        "pages/b/c.fxl: b/c/index.html in the export is below the file public/b",
        "pages/d.fxl: /d is application/octet-stream, not HTML",
    ]


async def test_paths_that_differ_only_in_case_are_an_error_with_both_places(tmp_path: Path) -> None:
    files = {
        "pages/docs.fxl": PAGE,
        "pages/Docs.fxl": PAGE,
        "pages/caf\u00e9.fxl": PAGE,
        "public/CAFE\u0301/index.html": "x",
        "pages/a/b.fxl": PAGE,
        "public/A": "x",
    }

    found = await failures(tmp_path, files)

    assert [line.partition(". ")[0] for line in found] == [
        "pages/a/b.fxl: a/b/__fx.json in the export is below the file public/A",
        "pages/a/b.fxl: a/b/index.html in the export is below the file public/A",
        "pages/caf\u00e9.fxl: caf\u00e9/index.html in the export differs only in case from "
        "CAFE\u0301/index.html of public/CAFE\u0301/index.html",
        "pages/docs.fxl: docs/__fx.json in the export differs only in case from "
        "Docs/__fx.json of pages/Docs.fxl",
        "pages/docs.fxl: docs/index.html in the export differs only in case from "
        "Docs/index.html of pages/Docs.fxl",
    ]


FEED = """
from starlette.responses import Response

STATIC = True

async def get(request):
    return Response(f"<rss>{request.url}</rss>", media_type="application/rss+xml")
"""


async def test_an_endpoint_that_is_static_is_a_file_and_may_be_linked(tmp_path: Path) -> None:
    files = {
        "pages/api/feed.xml.py": FEED,
        "pages/index.fxl": page_with('<a href="/api/feed.xml">Feed</a>'),
    }

    await export(tmp_path, files)

    assert contents(tmp_path / "out")["api/feed.xml"] == (
        b"<rss>https://example.com/api/feed.xml</rss>"
    )


async def test_an_endpoint_that_cannot_be_a_file_is_an_error(tmp_path: Path) -> None:
    files = {
        "pages/index.fxl": PAGE,
        "pages/api/feed.py": FEED,
        "pages/api/[id].py": FEED.replace("STATIC", "STATIC: bool"),
        "pages/api/who.txt.py": FEED.replace("request.url", "request.headers.get('host')"),
        "pages/api/form.txt.py": FEED.replace("def get", "def post"),
        "pages/api/live.txt.py": '"""\nSTATIC = True\n"""' + FEED.replace("True", "False"),
    }

    found = await failures(tmp_path, files)

    assert [line.partition(". ")[0] for line in found] == [
        "pages/api/[id].py: the URLs of /api/[id] are not known",
        "pages/api/feed.py: /api/feed has no file extension",
        "pages/api/form.txt.py: /api/form.txt responds with 405 to GET",
        "pages/api/live.txt.py: an endpoint needs a server",
        "pages/api/who.txt.py:6: its code reads request.headers, which a file cannot know",
    ]


async def test_no_file_has_a_secret_of_a_request(tmp_path: Path) -> None:
    form = page_with('<script nonce="">1</script>')

    await export(tmp_path, {"pages/index.fxl": form}, csp="enforce", csrf={"mode": "strict"})

    written = b"".join(contents(tmp_path / "out").values())
    assert b'"nonce":' not in written
    assert b"csrf" not in written


async def test_only_an_export_or_an_empty_folder_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    await export(tmp_path, {"pages/index.fxl": PAGE})
    await export(tmp_path, {"pages/index.fxl": PAGE})
    (tmp_path / "out" / ".fx-export").unlink()

    with pytest.raises(ExportFolderInvalid, match="contains files that 'fx export' did not write"):
        await export(tmp_path, {"pages/index.fxl": PAGE})
    assert (tmp_path / "out" / "index.html").is_file()


@pytest.mark.parametrize(
    ("folder", "cause"),
    [
        ("..", "contains the project"),
        (".", "contains the project"),
        ("public/out", "is in public, which is exported itself"),
        ("pages", "is in pages, which is exported itself"),
        ("fx.config.json", "is not a folder"),
    ],
)
def test_the_project_is_not_replaced(tmp_path: Path, folder: str, cause: str) -> None:
    (tmp_path / "fx.config.json").write_text("{}")

    with pytest.raises(ExportFolderInvalid, match=cause):
        require_replaceable((tmp_path / folder).resolve(), tmp_path, "pages", "public")


async def test_an_export_that_fails_leaves_the_one_before(tmp_path: Path) -> None:
    await export(tmp_path, {"pages/index.fxl": page_with("<p>1</p>")})
    before = contents(tmp_path / "out")

    with pytest.raises(ExportFailed):
        await export(tmp_path, {"pages/index.fxl": page_with('<a href="/gone">x</a>')})

    assert contents(tmp_path / "out") == before
    assert not [name for name in contents(tmp_path) if name.startswith("out.new")]
