"""Next.js from npm: dynamic pages of the app router, one process."""

from __future__ import annotations

import json

from benchmarks import cache
from benchmarks.contenders.model import Command, Contender
from benchmarks.works import ECHO_ANSWER, ECHO_BODY, Call, page_calls

FAMILY = "next"
QUIET = {"NEXT_TELEMETRY_DISABLED": "1"}


def contenders() -> tuple[Contender, ...]:
    """Return Next.js with `next start`."""
    pages = page_calls(navigation={})
    rsc = {"rsc": "1"}
    calls = {
        "hello": pages["hello"],
        "table": pages["table"],
        "nav-hello": _navigation(pages["nav-hello"], rsc),
        "nav-table": _navigation(pages["nav-table"], rsc),
        "echo": Call(path="/echo", method="POST", body=ECHO_BODY, contains=ECHO_ANSWER),
    }
    folder = cache.app_folder(FAMILY)
    return (
        Contender(
            name=FAMILY,
            family=FAMILY,
            note="app router, `next start`",
            version=_version,
            install=lambda: cache.install_node(FAMILY),
            build=Command(argv=(*_next(), "build"), folder=folder, env=QUIET),
            serve=_serve,
            calls=calls,
        ),
    )


def _navigation(call: Call, headers: dict[str, str]) -> Call:
    # Without the parameter, Next.js redirects to it.
    return Call(path=f"{call.path}?_rsc", headers=headers, contains=call.contains, least=call.least)


def _version() -> str:
    manifest = json.loads((cache.APPS / FAMILY / "package.json").read_text())
    version: str = manifest["dependencies"]["next"]
    return version


def _next() -> tuple[str, ...]:
    return ("node", str(cache.app_folder(FAMILY) / "node_modules/next/dist/bin/next"))


def _serve(port: int) -> Command:
    options = ("start", "--hostname", "127.0.0.1", "--port", str(port))
    return Command(argv=(*_next(), *options), folder=cache.app_folder(FAMILY), env=QUIET)
