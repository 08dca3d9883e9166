"""Links of exported pages: which lead nowhere, and where each is written."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from fxtrio.export import ExportFailed, PlaceInvalid, place_of
from fxtrio.export.errors import Finding
from fxtrio.export.html import read_document, with_policy
from fxtrio.export.links import LinkCheck, Page
from fxtrio.export.place import Place
from tests.export.exporting import export, page_with
from tests.trees import PAGE


@pytest.mark.parametrize(
    ("html", "cause"),
    [
        ('<a href="/gone">x</a>', "'/gone' matches no page and no file"),
        ('<img src="/a.png">', "'/a.png' matches no page and no file"),
        ('<img srcset="/a.png 1x, /b.png 2x">', "'/a.png' matches no page and no file"),
        ('<a href="/other#x">x</a>', "'/other#x' names 'x', which no element of /other has as"),
        ('<a href="#x">x</a>', "'#x' names 'x', which no element of / has as its id"),
        ('<a href="other">x</a>', "'other' is relative, and hosts of files serve"),
        ('<a href="https://example.com/gone">x</a>', "'https://example.com/gone' matches no"),
        ('<form method="post" action="/send"></form>', "'/send' is the target of a form, which"),
    ],
)
async def test_a_link_that_leads_nowhere_is_an_error(tmp_path: Path, html: str, cause: str) -> None:
    files = {"pages/index.fxl": page_with(html), "pages/other.fxl": PAGE, "public/b.png": ""}

    with pytest.raises(ExportFailed) as caught:
        await export(tmp_path, files)

    [found] = str(caught.value).splitlines()
    assert found.startswith("pages/index.fxl: " if "srcset" in html else "pages/index.fxl:3: ")
    assert cause in found
    assert found.partition(" (on ")[2].startswith("/).")


@pytest.mark.parametrize(
    "html",
    [
        '<a href="/other">x</a> <a href="/other/">x</a> <a href="/other?a=1">x</a>',
        '<a href="/other#there">x</a> <a href="#top">x</a> <a href="#">x</a>',
        '<a href="https://elsewhere.test/x">x</a> <a href="mailto:a@b.test">x</a>',
        '<a href="/b.png">x</a> <a href="/sitemap.xml">x</a> <a href="/caf%C3%A9">x</a>',
        '<a href="/other#:~:text=word">x</a> <a href="?page=2">x</a>',
        '<a rel="external nofollow" href="https://example.com/0.1/">another site of the host</a>',
        '<!-- <a href="/gone">x</a> --><script>"<a href=\'/gone\'>"</script>',
        '<form method="post" action="https://forms.test/x"></form>',
    ],
)
async def test_a_link_that_leads_somewhere_is_none(tmp_path: Path, html: str) -> None:
    files = {
        "pages/index.fxl": page_with(html),
        "pages/other.fxl": page_with('<p id="there">x</p>'),
        "pages/café.fxl": PAGE,
        "public/b.png": "",
    }

    await export(tmp_path, files)


async def test_one_mistake_on_many_pages_is_reported_once(tmp_path: Path) -> None:
    many = """
    async def paths():
        return [{"id": n} for n in range(3)]
    """
    with pytest.raises(ExportFailed) as caught:
        await export(tmp_path, {"pages/[id].fxl": page_with('<a href="/gone/x">x</a>', many)})

    [found] = str(caught.value).splitlines()
    assert "(on /0 and 2 more)" in found


async def test_links_to_left_out_pages_are_reported_and_no_errors(tmp_path: Path) -> None:
    html = '<a href="/login">x</a> <a href="/items/7">x</a> <a href="/api/x">x</a>'
    files = {
        "pages/index.fxl": page_with(html),
        "pages/login.fxl": f"@action\nasync def sign_in(request): ...\n\n{PAGE}",
        "pages/items/[id].fxl": PAGE,
        "pages/api/x.py": "async def get(request): ...\n",
    }

    exported = await export(tmp_path, files, allow_missing=True)

    assert exported.pages == ("/",)
    assert [str(one).partition(" is ")[0] for one in exported.dangling] == [
        "pages/index.fxl:3: '/api/x'",
        "pages/index.fxl:3: '/items/7'",
        "pages/index.fxl:3: '/login'",
    ]


@pytest.mark.parametrize(
    ("written", "href"),
    [
        ("[x](/gone)", "/gone"),
        ('[x](</gone> "title")', "/gone"),
        ("[x]\n\n[x]: /gone", "/gone"),
        ("[x](b.md#gone)", "/docs/b#gone"),
        ("[x](./b%2emd#gone)", "/docs/b#gone"),
        ("[x](#gone)", "#gone"),
        ("![x](/gone.png)", "/gone.png"),
    ],
)
def test_a_link_in_markdown_has_its_line(written: str, href: str) -> None:
    source = f"# A\n\n[gone](/gone-too)\n\n{written}\n"
    pages = {
        f"/docs/{name}": Page(
            f"/docs/{name}", (f"pages/docs/{name}.md",), read_document(f'<a href="{link}">x</a>')
        )
        for name, link in (("a", href), ("b", "/docs/a"))
    }
    check = LinkCheck(
        place_of("https://example.com", None, base_url=""),
        pages,
        frozenset(),
        lambda path: None,
        lambda path: source,
    )

    [broken], [] = check.findings()

    assert broken.place == f"pages/docs/a.md:{source.count(chr(10))}"


def test_a_page_whose_url_begins_with_the_base_is_named_with_the_base() -> None:
    page = Page("/docs/a", ("pages/docs/a.fxl",), read_document('<a href="/docs/a">x</a>'))
    place = place_of("https://example.com", "/docs", base_url="")
    check = LinkCheck(place, {"/docs/a": page}, frozenset(), lambda path: None, lambda path: "")

    [broken], [] = check.findings()

    assert broken.remedy.endswith("write '/docs/docs/a', or choose another base")


async def test_a_redirect_that_leads_nowhere_is_an_error(tmp_path: Path) -> None:
    away = "from fx.runtime import redirect\n\n@server\nasync def load(request):\n"
    files = {"pages/index.fxl": f"{away}    raise redirect('/gone')\n\n{PAGE}"}

    with pytest.raises(
        ExportFailed, match="redirects to '/gone', which matches no page and no file"
    ):
        await export(tmp_path, files)


AWAY = (
    "from fx.runtime import redirect\n\n"
    "@server\nasync def load(request):\n    raise redirect({!r})\n\n"
)


async def test_a_redirect_may_lead_to_a_file(tmp_path: Path) -> None:
    files = {"pages/index.fxl": AWAY.format("/manual.pdf") + PAGE, "public/manual.pdf": ""}

    exported = await export(tmp_path, files)

    assert [moved.location for moved in exported.moved] == ["/manual.pdf"]


async def test_a_redirect_to_a_page_that_is_left_out_is_reported_like_a_link(
    tmp_path: Path,
) -> None:
    login = f"@action\nasync def sign_in(request): ...\n\n{PAGE}"
    files = {"pages/index.fxl": AWAY.format("/login") + PAGE, "pages/login.fxl": login}

    exported = await export(tmp_path, files, allow_missing=True)

    [found] = exported.dangling
    assert str(found).startswith("pages/index.fxl:5: redirects to '/login', which is left out")


async def test_a_link_with_a_fragment_may_lead_to_a_redirect(tmp_path: Path) -> None:
    files = {
        "pages/index.fxl": page_with('<a href="/old#x">x</a>'),
        "pages/old.fxl": AWAY.format("/new") + PAGE,
        "pages/new.fxl": page_with('<p id="x">1</p>'),
    }

    assert (await export(tmp_path, files)).pages == ("/", "/new", "/old")


async def test_a_link_out_of_the_base_is_an_error_where_the_site_has_such_a_page(
    tmp_path: Path,
) -> None:
    html = '<a href="/other">x</a> <a href="/another-site">x</a>'
    files = {"pages/index.fxl": page_with(html), "pages/other.fxl": PAGE}

    with pytest.raises(ExportFailed) as caught:
        await export(tmp_path, files, base="/sub")

    [found] = str(caught.value).splitlines()
    assert found.startswith("pages/index.fxl:3: '/other' is outside of /sub")


def test_a_policy_names_the_scripts_that_run_by_their_hashes() -> None:
    document = (
        b'<!DOCTYPE html><html><head><meta charset="utf-8">'
        b'<script src="/a.js"></script><script type="application/json">{}</script>'
        b"<script>run()</script></head></html>"
    )

    secured = with_policy(document).decode()

    assert secured.count("sha256-") == 1
    assert "script-src 'self' 'sha256-AvyuiL0SD1mVY3NNxR+V2uo+lhk6RMFrytWmRt6CrJQ='" in secured
    assert secured.index("Content-Security-Policy") < secured.index("<script")


def test_a_page_that_search_engines_shall_not_list_is_known() -> None:
    assert read_document("<p>").indexed
    assert not read_document('<meta name="robots" content="noindex, follow">').indexed


@pytest.mark.parametrize("text", ["<a " * 50_000, '<a href="' * 50_000, "<!--" * 50_000])
def test_damaged_html_is_read_in_linear_time(text: str) -> None:
    assert read_document(text).links in ((), ("<a href=",))


@pytest.mark.parametrize(
    ("site", "base", "cause"),
    [
        ("example.com", None, "--site 'example.com': is not an origin."),
        ("ftp://example.com", None, "--site 'ftp://example.com': is not an origin."),
        ("https://example.com/docs/", None, "Write --site https://example.com --base /docs."),
        ("http://[::1", None, "--site 'http://[::1': is not an origin."),
        ("https://a.test:99999", None, "--site 'https://a.test:99999': is not an origin."),
        ("https://example.com", "docs", "--base 'docs': is not a path."),
        ("https://example.com", "/a/../b", "--base '/a/../b': is not a path."),
        ("https://example.com", "/docs", "--base '/docs': does not end with the setting baseUrl"),
    ],
)
def test_a_site_has_an_origin_and_a_path(site: str, base: str | None, cause: str) -> None:
    with pytest.raises(PlaceInvalid) as caught:
        place_of(site, base, base_url="/shop" if base == "/docs" else "")

    assert cause in str(caught.value)


def test_the_base_has_the_setting_at_its_end() -> None:
    place = place_of("https://example.com:8443/", "/docs/shop/", base_url="/shop")

    assert (place.root, place.base_url) == ("/docs", "/docs/shop")
    assert place.absolute("/a b") == "https://example.com:8443/docs/shop/a%20b"
    assert place_of("https://example.com", None, base_url="/shop").root == ""


def test_the_address_of_a_host_has_no_brackets() -> None:
    assert place_of("https://[::1]:8443", None, base_url="").server == ("::1", 8443)
    assert place_of("http://example.com", None, base_url="").server == ("example.com", 80)


def test_a_broken_link_of_a_layout_is_compared_with_all_pages_once() -> None:
    compared: list[str] = []

    class Paths(dict[str, Page]):
        def __iter__(self) -> Iterator[str]:
            compared.append("all")
            return super().__iter__()

    document = read_document('<a href="/gone">x</a>')
    pages = Paths({f"/{n}": Page(f"/{n}", ("pages/a.fxl",), document) for n in range(20)})
    place = Place("https", "example.com")

    check = LinkCheck(place, pages, frozenset(), lambda path: None, lambda source: "")
    [broken], _ = check.findings()

    assert "and 19 more" in str(broken)
    assert compared == ["all"]


async def test_many_links_do_not_keep_the_app_from_its_own_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found, on = LinkCheck.findings, []

    def findings(check: LinkCheck) -> tuple[list[Finding], list[Finding]]:
        on.append(threading.current_thread() is threading.main_thread())
        return found(check)

    monkeypatch.setattr(LinkCheck, "findings", findings)
    await export(tmp_path, {"pages/index.fxl": page_with("<p>1</p>")})

    assert on == [False]
