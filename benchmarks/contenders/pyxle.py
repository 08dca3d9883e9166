"""Pyxle from PyPI, as shipped and with React's production build.

Its SSR workers get a cleaned environment without NODE_ENV, and so run React's
development build. The second setting puts a ``node`` first on the PATH that sets it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import partial
from http.client import HTTPConnection
from http.cookies import SimpleCookie
from pathlib import Path
from urllib.parse import urlsplit

from benchmarks import cache
from benchmarks.contenders.model import Command, Contender
from benchmarks.works import runtime_calls

FAMILY = "pyxle"

CALLS = runtime_calls(navigation={"x-pyxle-navigation": "1"})


def contenders() -> tuple[Contender, ...]:
    """Return Pyxle as shipped, and with production React."""
    return (
        _contender("pyxle", "as shipped", production=False),
        _contender("pyxle-production", "NODE_ENV=production forced", production=True),
    )


def _contender(name: str, note: str, *, production: bool) -> Contender:
    return Contender(
        name=name,
        family=FAMILY,
        note=note,
        version=_version,
        install=_install,
        build=Command(argv=(_pyxle(), "build"), folder=cache.app_folder(FAMILY)),
        serve=partial(_serve, production=production),
        calls=CALLS,
        prove=_prove,
    )


def _pyxle() -> str:
    return str(cache.venv_python(FAMILY).with_name("pyxle"))


def _version() -> str:
    text = (cache.APPS / FAMILY / "requirements.txt").read_text()
    (version,) = (
        line.partition("==")[2] for line in text.splitlines() if line.startswith("pyxle-framework")
    )
    return version


def _install() -> None:
    cache.install_python(FAMILY)
    cache.install_node(FAMILY)


def _serve(port: int, *, production: bool) -> Command:
    env = {"PYXLE_SECRET_KEY": "a secret key of the benchmark"}
    if production:
        env["PATH"] = f"{cache.production_node()}{os.pathsep}{os.environ['PATH']}"
    options = ("--skip-build", "--ssr-workers", "1", "--host", "127.0.0.1", "--port", str(port))
    return Command(argv=(_pyxle(), "serve", *options), folder=_app(), env=env)


def _app() -> Path:
    return cache.app_folder(FAMILY)


def _prove(base: str) -> Mapping[str, str]:
    """Return a CSRF cookie with its token, as a page of the app sets them."""
    connection = HTTPConnection(urlsplit(base).netloc, timeout=5)
    try:
        connection.request("GET", "/hello")
        answer = connection.getresponse()
        answer.read()
        (cookie,) = SimpleCookie(answer.headers["set-cookie"]).values()
    finally:
        connection.close()
    return {"cookie": f"{cookie.key}={cookie.value}", "x-csrf-token": cookie.value}
