"""Starlette with Jinja2 on uvicorn: HTML from templates, without React and without CSRF."""

from __future__ import annotations

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
    from_browser,
)

FAMILY = "starlette"


def contenders() -> tuple[Contender, ...]:
    """Return Starlette on uvicorn with uvloop and httptools."""
    hello = Call(path="/hello", contains=GREETING)
    table = Call(path="/table", contains=LAST_ROW, least=30_000)
    calls = {
        "hello": hello,
        "table": table,
        "hello-chrome": from_browser(hello),
        "table-chrome": from_browser(table),
        "nav-hello": Call(path="/hello.json", contains=GREETING_DATA),
        "nav-table": Call(path="/table.json", contains=LAST_ROW_DATA, least=13_000),
        "echo": Call(path="/echo", method="POST", body=ECHO_BODY, contains=ECHO_ANSWER),
    }
    return (
        Contender(
            name=FAMILY,
            family=FAMILY,
            note="Jinja2, uvicorn with uvloop and httptools, no access log",
            version=lambda: cache.python_version(FAMILY, FAMILY),
            install=_install,
            serve=_serve,
            calls=calls,
        ),
    )


def _install() -> None:
    cache.install_python(FAMILY)
    cache.copy_app(FAMILY)


def _serve(port: int) -> Command:
    options = ("--loop", "uvloop", "--http", "httptools", "--no-access-log", "--port", str(port))
    python = str(cache.venv_python(FAMILY))
    return Command(
        argv=(python, "-m", "uvicorn", "app:app", *options), folder=cache.app_folder(FAMILY)
    )
