"""The work that is measured, and how much of it is wanted.

A `Work` is the same for every framework; how a framework is asked for it is a `Call`,
which its contender brings (`benchmarks.contenders`).
"""

from __future__ import annotations

from collections.abc import Mapping

import attrs


@attrs.frozen(kw_only=True)
class Call:
    """One request, and how its right answer is recognised."""

    path: str
    """From the root of the server."""

    contains: tuple[str, ...]
    """Texts that the body of the answer must have."""

    least: int = 0
    """Bytes that the body must have at least."""

    method: str = "GET"
    headers: Mapping[str, str] = attrs.field(factory=dict)
    body: str = ""


BROWSER: Mapping[str, str] = {
    "sec-ch-ua": '"Chromium";v="130", "Google Chrome";v="130", "Not?A_Brand";v="99"',
    "sec-ch-ua-mobile": "?0",
    "sec-ch-ua-platform": '"Linux"',
    "Upgrade-Insecure-Requests": "1",
    "User-Agent": "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) "
    "Chrome/130.0.0.0 Safari/537.36",
    "Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,"
    "image/apng,*/*;q=0.8",
    "Sec-Fetch-Site": "none",
    "Sec-Fetch-Mode": "navigate",
    "Sec-Fetch-User": "?1",
    "Sec-Fetch-Dest": "document",
    "Accept-Encoding": "gzip, deflate, br, zstd",
    "Accept-Language": "en-US,en;q=0.9",
}
"""What Chrome sends for the first page of a visit; wrk itself sends a host and nothing else."""


def from_browser(call: Call) -> Call:
    """Return a call as a browser makes it."""
    return attrs.evolve(call, headers={**BROWSER, **call.headers})


@attrs.frozen
class Target:
    """What ``contender`` should do: ``times`` as much as ``rival`` in the same run."""

    contender: str
    rival: str
    times: float


@attrs.frozen
class Work:
    """One thing that every framework is asked to do."""

    name: str
    what: str
    targets: tuple[Target, ...] = ()


WORKS = (
    Work("hello", "a page with a message, hydrated", (Target("fxtrio", "pyxle", 8),)),
    Work(
        "table",
        "a page with 200 rows, a component each",
        (
            Target("fxtrio-no-memo", "pyxle", 6),
            Target("fxtrio-no-memo", "pyxle-production", 1.8),
            Target("fxtrio", "pyxle-production", 12),
        ),
    ),
    Work(
        "nav-hello",
        "what client navigation loads for hello",
        (Target("fxtrio", "pyxle", 6),),
    ),
    Work(
        "nav-table",
        "what client navigation loads for table",
        (Target("fxtrio", "pyxle-production", 6),),
    ),
    Work(
        "hello-chrome",
        "hello with all headers of a browser",
        (Target("fxtrio", "starlette", 1),),
    ),
    Work("table-chrome", "table with all headers of a browser"),
    Work("echo", "an action that answers JSON with JSON", (Target("fxtrio", "pyxle", 2),)),
    Work("hello.md", "a page as Markdown", (Target("fxtrio", "pyxle", 3),)),
    Work("llms.txt", "the list of pages for agents", (Target("fxtrio", "pyxle", 5),)),
)

START_WITHIN = 0.6  # seconds from the command to the first right answer
IDLE_WITHIN = 100.0  # megabytes (PSS) of all processes before any load
BUILD_WITHIN = 2.0  # seconds for the app's five pages

GREETING = ("<h1>Greeting</h1>", "<p>Hello</p>")
LAST_ROW = ("<td>Person 200</td>", "<td>person200@example.com</td>", "<td>250")
GREETING_DATA = ('"message"', '"Hello"')
LAST_ROW_DATA = ('"Person 200"', '"person200@example.com"')
ECHO_BODY = '{"name":"x"}'
ECHO_ANSWER = ('"ok":true', '"name":"x"')


def page_calls(*, navigation: Mapping[str, str]) -> dict[str, Call]:
    """Return the calls of a framework that navigates by a header on the page's own URL."""
    hello = Call(path="/hello", contains=GREETING)
    table = Call(path="/table", contains=LAST_ROW, least=30_000)
    return {
        "hello": hello,
        "table": table,
        "hello-chrome": from_browser(hello),
        "table-chrome": from_browser(table),
        "nav-hello": Call(path="/hello", headers=navigation, contains=GREETING_DATA),
        "nav-table": Call(path="/table", headers=navigation, contains=LAST_ROW_DATA, least=13_000),
    }


def runtime_calls(*, navigation: Mapping[str, str]) -> dict[str, Call]:
    """Return the calls of a framework that has pages, actions below them, and Markdown."""
    json = {"content-type": "application/json"}

    def action(path: str, contains: tuple[str, ...], body: str = "") -> Call:
        path = f"/api/__actions/{path}"
        return Call(path=path, method="POST", headers=json, body=body, contains=contains)

    return {
        **page_calls(navigation=navigation),
        "echo": action("actions/echo", ECHO_ANSWER, ECHO_BODY),
        "enqueue": action("actions/jobs", ('"seconds"',)),
        "websocket": action("room/begin", ('"ok":true',)),
        "hello.md": Call(path="/hello.md", contains=("# Greeting", "Hello")),
        "llms.txt": Call(path="/llms.txt", contains=("## Pages", "/hello.md")),
    }
