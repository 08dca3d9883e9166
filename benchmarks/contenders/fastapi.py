"""FastAPI on uvicorn: the JSON that a single-page app loads, without HTML and without CSRF."""

from __future__ import annotations

from benchmarks import cache
from benchmarks.contenders.model import Command, Contender
from benchmarks.works import (
    ECHO_ANSWER,
    ECHO_BODY,
    GREETING_DATA,
    LAST_ROW_DATA,
    Call,
)

FAMILY = "fastapi"


def contenders() -> tuple[Contender, ...]:
    """Return FastAPI on uvicorn with uvloop and httptools."""
    json = {"content-type": "application/json"}
    calls = {
        "nav-hello": Call(path="/hello", contains=GREETING_DATA),
        "nav-table": Call(path="/table", contains=LAST_ROW_DATA, least=13_000),
        "echo": Call(
            path="/echo", method="POST", headers=json, body=ECHO_BODY, contains=ECHO_ANSWER
        ),
    }
    return (
        Contender(
            name=FAMILY,
            family=FAMILY,
            note="pydantic models, uvicorn with uvloop and httptools, no access log",
            version=lambda: cache.python_version(FAMILY, "fastapi"),
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
