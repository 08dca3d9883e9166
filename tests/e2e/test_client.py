"""Parts of `fx/client` in a real browser, against a real server."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from tests.bundle.test_browser import wait_until
from tests.e2e.support import Server, fx, served, visit
from tests.e2e.test_guestbook import hydrated
from tests.trees import write_tree

ALL_TITLES = "[...document.querySelectorAll('title')].map((each) => each.textContent)"

SITE = {
    "pages/layout.fxl": """
        HEAD = '<link rel="icon" href="data:,">'

        import { Form, Link, navigate } from "fx/client";

        export default function Layout({ children }) {
          if (globalThis.document) document.go = navigate;
          return (
            <>
              <Link href="/find?word=hover" prefetch={true}>hover</Link>
              <Form method="get" action="/find" id="top"><input name="word" /></Form>
              {children}
            </>
          );
        }
    """,
    "pages/index.fxl": """
        export default function Home() { return <h1>Home</h1>; }
    """,
    "pages/rename.fxl": """
        @action
        async def rename(request):
            name = (await request.json())["name"]
            if not name:
                raise ValidationActionError(fields={"name": ["Type a name."]})
            return {"name": name}

        import { useState } from "react";
        import { useAction } from "fx/client";

        export default function Rename() {
          const rename = useAction("rename");
          const [name, setName] = useState("");
          const send = (event) => {
            event.preventDefault();
            rename({ name });
          };
          return (
            <form onSubmit={send}>
              <label>
                Name <input name="name" value={name} onChange={(e) => setName(e.target.value)} />
              </label>
              <button disabled={rename.pending}>Rename</button>
              <p>{rename.fields.name?.[0] ?? rename.data?.name}</p>
            </form>
          );
        }
    """,
    "pages/find.fxl": """
        @server
        async def load(request):
            query = request.query_params
            return {"found": [query.get("word", ""), *query.getlist("kind")]}

        import { Form } from "fx/client";

        export default function Find({ data }) {
          return (
            <main>
              <h1>{data.found.join(" ")}</h1>
              <Form method="get" id="own">
                {({ values }) => (
                  <>
                    <input name="word" defaultValue={values.word} />
                    <input type="checkbox" name="kind" value="a" defaultChecked={true} />
                    <input type="checkbox" name="kind" value="b" defaultChecked={true} />
                    <button name="kind" value="c">Find</button>
                    <button formTarget="_blank">Elsewhere</button>
                  </>
                )}
              </Form>
            </main>
          );
        }
    """,
    "pages/echo.fxl": """
        async def websocket(ws):
            await ws.accept()
            await ws.send_json({"number": 1})
            async for text in ws.iter_text():
                if text == "leave":
                    await ws.close(4401, "sign in first")
                    return
                await ws.send_text(text)

        import { useAuth, useWebSocket } from "fx/client";

        export default function Echo() {
          const socket = useWebSocket();
          const { isAuthenticated, loading, error, signup } = useAuth();
          return (
            <main>
              <h1>{JSON.stringify(socket.lastMessage)}</h1>
              <b>{socket.error}</b>
              <u>{String(isAuthenticated)} {String(loading)} {error === null ? "" : "refused"}</u>
              <button onClick={() => socket.send("hello")}>Say</button>
              <button onClick={() => socket.send("leave")}>Leave</button>
              <button onClick={() => signup({ email: "" })}>Sign up</button>
            </main>
          );
        }
    """,
    "pages/ask.fxl": """
        import trio

        ENDED = []

        @server
        async def load(request):
            return {"ended": ENDED}

        @action
        async def ask(request):
            endless = (await request.json()).get("endless")
            try:
                for number in range(10_000 if endless else 3):
                    yield {"text": f"{number} "}
                    await trio.sleep(0.02)
                if not endless:
                    raise ActionError("No more.", 503)
            finally:
                ENDED.append("endless" if endless else "short")

        import { Form, Link, useAction } from "fx/client";

        const joined = { reduce: (all, part) => all + part.text, initial: "" };

        export default function Ask({ data }) {
          const ask = useAction("ask", joined);
          return (
            <main>
              <output>{ask.data}</output>
              <b>{ask.error}</b>
              <i>{String(ask.pending)}</i>
              <button onClick={() => ask({})}>Ask</button>
              <button onClick={() => ask({ endless: true })}>Ask on</button>
              <button onClick={ask.stop}>Stop</button>
              <Form action="ask" {...joined} onError={() => {}}>
                {({ data, error }) => <button>{data || "Send"} {error}</button>}
              </Form>
              <Link href="/">Leave</Link>
            </main>
          );
        }
    """,
    "fx.config.json": '{"name": "The Shop"}',
    "pages/titles/head.fxl": """
        import { Head } from "fx/client";

        export default () => <Head><title>from Head</title></Head>;
    """,
    "pages/titles/react.fxl": """
        export default () => <main><title>from React</title></main>;
    """,
    "pages/titles/function.fxl": """
        def HEAD(data):
            return "<title>from HEAD</title>"

        export default () => <p>x</p>;
    """,
    "pages/titles/shop/layout.fxl": """
        HEAD = '<title data-template="%s | Acme">Acme</title>'

        export default ({ children }) => <section>{children}</section>;
    """,
    "pages/titles/shop/index.fxl": """
        export default () => <p>x</p>;
    """,
    "pages/titles/shop/orders.fxl": """
        def HEAD(data):
            return "<title>Orders</title>"

        export default () => <p>x</p>;
    """,
    "pages/titles/shop/react.fxl": """
        import { Suspense, use, useState } from "react";
        const value = new Promise((done) => setTimeout(done, 30, "late"));
        const Late = () => <b>{use(value)}</b>;

        export default function InTree() {
          const [named, setNamed] = useState(true);
          return <>
            {named && <title>from React in a shop</title>}
            <Suspense fallback=""><Late /></Suspense>
            <button onClick={() => setNamed(!named)}>rename</button>
          </>;
        }
    """,
    "pages/titles/shop/cart.fxl": """
        import { Head } from "fx/client";

        export default () => <Head><title>Cart</title></Head>;
    """,
    "pages/titles/untitled.fxl": """
        def HEAD(data):
            return '<meta name="author" content="x">'

        export default () => <p>x</p>;
    """,
    "pages/not-found.fxl": """
        export default ({ error }) => <p>{error.message}</p>;
    """,
    "pages/rows.fxl": """
        from components.rows import ROWS

        @server
        async def load(request):
            return {"rows": list(ROWS)}

        export default ({ data }) => <h2>{data.rows.join(" ")}</h2>;
    """,
    "components/rows.py": """
        ROWS = ["first"]
    """,
    "pages/add.fxl": """
        from components.rows import ROWS
        from fx.runtime import redirect

        @action
        async def add(request):
            ROWS.append("new")
            return redirect("/rows#end")

        import { Form, Link } from "fx/client";

        export default function Add() {
          return (
            <main>
              <Form action="add"><button>Add</button></Form>
              <Link href="/rows" prefetch={true}>rows</Link>
            </main>
          );
        }
    """,
    "pages/quiet.fxl": """
        import { useRef } from "react";
        import { useWebSocket } from "fx/client";

        export default function Quiet() {
          const renders = useRef(0);
          const { status, send } = useWebSocket("/echo", {
            onMessage: () => { window.heard = (window.heard ?? 0) + 1; },
          });
          globalThis.send = send;
          renders.current += 1;
          return <i>{status} {renders.current}</i>;
        }
    """,
}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    project = write_tree(tmp_path_factory.mktemp("client"), SITE)
    fx("build", cwd=project)
    with served(project) as server:
        yield server


def test_a_search_form_shows_its_page_without_a_new_document(
    site: Server, browser: Browser
) -> None:
    visitor = visit(browser)
    page = visitor.page
    hydrated(visitor, site.url)
    page.evaluate("window.sameDocument = true")
    page.locator("#top input").fill("a b&c")
    page.locator("#top input").press("Enter")
    expect(page.locator("h1")).to_have_text("a b&c")
    assert page.url == f"{site.url}/find?word=a+b%26c"
    expect(page.locator("#own [name=word]")).to_have_value("a b&c")
    page.get_by_role("button", name="Find").click()
    expect(page.locator("h1")).to_have_text("a b&c a b c")
    page.go_back()
    expect(page.locator("h1")).to_have_text("a b&c")
    assert page.evaluate("window.sameDocument")
    with page.expect_popup() as popup:
        page.get_by_role("button", name="Elsewhere").click()
    expect(popup.value.locator("h1")).to_have_text("a b&c a b")
    assert visitor.complaints == []


def test_a_search_form_works_without_javascript(site: Server, browser: Browser) -> None:
    page = visit(browser, javascript=False).page
    page.goto(site.url)
    page.locator("#top input").fill("word")
    page.locator("#top input").press("Enter")
    expect(page.locator("h1")).to_have_text("word")
    expect(page.locator("#own [name=word]")).to_have_value("word")
    page.get_by_role("button", name="Find").click()
    expect(page.locator("h1")).to_have_text("word a b c")


def test_a_page_that_was_prefetched_before_a_write_is_not_what_its_redirect_shows(
    site: Server, browser: Browser
) -> None:
    visitor = visit(browser)
    page = visitor.page
    hydrated(visitor, f"{site.url}/add")
    rows = page.get_by_role("link", name="rows")
    with page.expect_response("**/rows"):
        rows.hover()
    page.get_by_role("button", name="Add", exact=True).click()
    expect(page.locator("h2")).to_have_text("first new")
    assert page.url == f"{site.url}/rows#end"
    assert visitor.complaints == []


def test_a_link_with_prefetch_loads_its_page_when_the_pointer_rests_on_it(
    site: Server, browser: Browser
) -> None:
    visitor = visit(browser)
    hydrated(visitor, site.url)
    with visitor.page.expect_request("**/find?word=hover") as request:
        visitor.page.get_by_role("link", name="hover").hover()
    assert request.value.headers["x-fx-navigation"] == "1"


def test_a_socket_reports_its_last_message_and_why_it_was_lost(
    site: Server, browser: Browser
) -> None:
    visitor = visit(browser)
    page = visitor.page
    hydrated(visitor, f"{site.url}/echo")
    expect(page.locator("h1")).to_have_text('{"number":1}')
    page.get_by_role("button", name="Say").click()
    expect(page.locator("h1")).to_have_text('"hello"')
    page.get_by_role("button", name="Leave").click()
    expect(page.locator("b")).to_have_text("sign in first")


def test_a_component_that_reads_no_messages_is_not_rendered_for_them(
    site: Server, browser: Browser
) -> None:
    visitor = visit(browser)
    page = visitor.page
    page.goto(f"{site.url}/quiet")
    expect(page.locator("i")).to_contain_text("open")
    wait_until(page, "window.heard === 1")
    renders = page.locator("i").inner_text()
    page.evaluate("for (const text of ['a', 'b', 'c']) send(text)")
    wait_until(page, "window.heard === 4")
    assert page.locator("i").inner_text() == renders


def test_nobody_is_signed_in_without_the_auth_plugin(site: Server, browser: Browser) -> None:
    visitor = visit(browser)
    page = visitor.page
    hydrated(visitor, f"{site.url}/echo")
    expect(page.locator("u")).to_have_text("false false")
    page.get_by_role("button", name="Sign up").click()
    expect(page.locator("u")).to_have_text("false false refused")


TITLES = {
    "/": "The Shop",
    "/titles/head": "from Head",
    "/titles/react": "from React",
    "/titles/function": "from HEAD",
    "/titles/untitled": "The Shop",
    "/titles/shop": "Acme",
    "/titles/shop/orders": "Orders | Acme",
    "/titles/shop/react": "from React in a shop",
    "/titles/shop/cart": "Cart | Acme",
    "/nowhere": "The Shop",
}


def test_a_page_without_a_title_has_the_name_of_the_project(site: Server, browser: Browser) -> None:
    visitor = visit(browser)
    page = visitor.page
    for path, title in TITLES.items():
        page.goto(f"{site.url}{path}")
        assert page.evaluate(ALL_TITLES) == [title], path


def test_a_navigation_shows_the_title_of_a_page_without_one(site: Server, browser: Browser) -> None:
    visitor = visit(browser)
    page = visitor.page
    for first in TITLES:
        hydrated(visitor, f"{site.url}{first}")
        for path, title in TITLES.items():
            page.evaluate("(path) => { document.go(path) }", path)
            wait_until(page, f"location.pathname === '{path}'")
            wait_until(page, f"{ALL_TITLES}.join() === '{title}'")


def test_a_title_of_react_replaces_others_while_it_is_rendered(
    site: Server, browser: Browser
) -> None:
    visitor = visit(browser)
    page = visitor.page
    hydrated(visitor, f"{site.url}/titles/shop/react")
    for title in ("Acme", "from React in a shop", "Acme"):
        page.get_by_role("button", name="rename").click()
        wait_until(page, f"{ALL_TITLES}.join() === '{title}'")


ENDED = """
    fetch("/ask", { headers: { "x-fx-navigation": "1" } }).then((response) => response.json())
      .then((state) => state.props.data.ended.filter((each) => each === "endless").length === %d)
"""
"""Whether so many streams have ended that have no end of their own."""


def test_values_of_a_streamed_action_appear_as_they_arrive(site: Server, browser: Browser) -> None:
    visitor = visit(browser)
    page = visitor.page
    hydrated(visitor, f"{site.url}/ask")
    page.get_by_role("button", name="Ask", exact=True).click()
    expect(page.locator("output")).to_have_text("0 1 2 ")
    expect(page.locator("b")).to_have_text("No more.")  # and the values stay
    page.get_by_role("button", name="Send").click()
    expect(page.locator("form button")).to_have_text("0 1 2  No more.")
    assert visitor.complaints == []


def test_a_stream_ends_when_it_is_stopped_and_when_its_page_is_left(
    site: Server, browser: Browser
) -> None:
    visitor = visit(browser)
    page = visitor.page
    hydrated(visitor, f"{site.url}/ask")
    page.get_by_role("button", name="Ask on").click()
    expect(page.locator("output")).to_contain_text("3 ")
    page.get_by_role("button", name="Stop").click()
    expect(page.locator("i")).to_have_text("false")
    assert page.locator("b").text_content() == ""
    wait_until(page, ENDED % 1)
    page.get_by_role("button", name="Ask on").click()
    expect(page.locator("output")).to_contain_text("3 ")
    page.get_by_role("link", name="Leave").click()
    expect(page.locator("h1")).to_have_text("Home")
    wait_until(page, ENDED % 2)
    assert visitor.complaints == []


def test_a_button_that_was_disabled_during_a_call_has_the_focus_again(
    site: Server, browser: Browser
) -> None:
    visitor = visit(browser)
    hydrated(visitor, f"{site.url}/rename")
    page = visitor.page
    name, button = page.get_by_label("Name"), page.get_by_role("button", name="Rename")
    button.focus()
    page.keyboard.press("Enter")
    expect(name).to_be_focused()
    expect(name).to_have_attribute("aria-invalid", "true")
    expect(name).to_have_accessible_description("Type a name.")

    page.keyboard.type("Ada")
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    expect(page.get_by_text("Ada")).to_be_visible()
    expect(button).to_be_focused()
    expect(name).not_to_have_attribute("aria-invalid", "true")
