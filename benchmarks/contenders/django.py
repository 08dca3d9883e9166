"""Django on gunicorn: HTML from templates, with its CSRF check and without React."""

from __future__ import annotations

from collections.abc import Mapping
from http.client import HTTPConnection
from http.cookies import SimpleCookie
from urllib.parse import urlsplit

from benchmarks import cache
from benchmarks.contenders.model import Command, Contender
from benchmarks.works import (
    ECHO_ANSWER,
    ECHO_BODY,
    GREETING,
    GREETING_DATA,
    LAST_ROW,
    LAST_ROW_DATA,
    Call,
)

FAMILY = "django"


def contenders() -> tuple[Contender, ...]:
    """Return Django on gunicorn with one process of four threads."""
    calls = {
        "hello": Call(path="/hello", contains=GREETING),
        "table": Call(path="/table", contains=LAST_ROW, least=30_000),
        "nav-hello": Call(path="/hello.json", contains=GREETING_DATA),
        "nav-table": Call(path="/table.json", contains=LAST_ROW_DATA, least=13_000),
        "echo": Call(path="/echo", method="POST", body=ECHO_BODY, contains=ECHO_ANSWER),
    }
    return (
        Contender(
            name=FAMILY,
            family=FAMILY,
            note="templates, gunicorn with one process of four threads, no access log",
            version=lambda: cache.python_version(FAMILY, "django"),
            install=_install,
            serve=_serve,
            calls=calls,
            prove=_prove,
        ),
    )


def _install() -> None:
    cache.install_python(FAMILY)
    cache.copy_app(FAMILY)


def _serve(port: int) -> Command:
    options = ("--worker-class", "gthread", "--threads", "4", "--bind", f"127.0.0.1:{port}")
    gunicorn = str(cache.venv_python(FAMILY).with_name("gunicorn"))
    return Command(argv=(gunicorn, *options, "app:app"), folder=cache.app_folder(FAMILY))


def _prove(base: str) -> Mapping[str, str]:
    """Return a CSRF cookie with its token."""
    connection = HTTPConnection(urlsplit(base).netloc, timeout=5)
    try:
        connection.request("GET", "/token")
        answer = connection.getresponse()
        answer.read()
        (cookie,) = SimpleCookie(answer.headers["set-cookie"]).values()
    finally:
        connection.close()
    return {"cookie": f"{cookie.key}={cookie.value}", "x-csrftoken": cookie.value}
