"""SvelteKit from npm: pages with a load function, on adapter-node, one process."""

from __future__ import annotations

import json

from benchmarks import cache
from benchmarks.contenders.model import Command, Contender
from benchmarks.works import ECHO_ANSWER, ECHO_BODY, GREETING, LAST_ROW, LAST_ROW_DATA, Call

FAMILY = "sveltekit"


def contenders() -> tuple[Contender, ...]:
    """Return SvelteKit with the server that adapter-node makes."""
    body = {"content-type": "application/json"}
    calls = {
        "hello": Call(path="/hello", contains=GREETING),
        "table": Call(path="/table", contains=LAST_ROW, least=30_000),
        "nav-hello": Call(path="/hello/__data.json", contains=('"message"', '"Hello"')),
        "nav-table": Call(path="/table/__data.json", contains=LAST_ROW_DATA, least=13_000),
        "echo": Call(
            path="/echo", method="POST", headers=body, body=ECHO_BODY, contains=ECHO_ANSWER
        ),
    }
    vite = str(cache.app_folder(FAMILY) / "node_modules/vite/bin/vite.js")
    return (
        Contender(
            name=FAMILY,
            family=FAMILY,
            note="adapter-node, one process",
            version=_version,
            install=lambda: cache.install_node(FAMILY),
            build=Command(argv=("node", vite, "build"), folder=cache.app_folder(FAMILY)),
            serve=_serve,
            calls=calls,
        ),
    )


def _version() -> str:
    manifest = json.loads((cache.APPS / FAMILY / "package.json").read_text())
    version: str = manifest["devDependencies"]["@sveltejs/kit"]
    return version


def _serve(port: int) -> Command:
    env = {"HOST": "127.0.0.1", "PORT": str(port), "NODE_ENV": "production"}
    return Command(argv=("node", "build"), folder=cache.app_folder(FAMILY), env=env)
