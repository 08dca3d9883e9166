"""What contributors and CI run: `nox -s demo`, `nox -s ci`, or one of the sessions alone."""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import nox
from nox.command import CommandFailed

nox.needs_version = ">=2025.5"
nox.options.default_venv_backend = "uv|virtualenv"
nox.options.reuse_venv = "yes"
nox.options.sessions = ["lint", "types", "js", "tests"]

ROOT = Path(__file__).parent
GUESTBOOK = ROOT / "examples" / "guestbook"
PARALLEL = ("-n", "auto", "--dist", "loadfile", "--no-loadscope-reorder")
"""Tests of one file share servers and builds, so they stay together.

`tests/conftest.py` says how many run beside each other, and in which order.
"""

PYTHON_FILES = ("fxtrio", "fx", "tests", "examples", "benchmarks", "editors", "noxfile.py")


@nox.session
def demo(session: nox.Session) -> None:
    """Build and serve the guestbook example on http://127.0.0.1:8000."""
    node = [] if shutil.which("node") else ["node"]
    session.install("-e", f".[{','.join(['pydantic', 'auth', *node])}]")
    session.run("fx", "build", "--root", str(GUESTBOOK))
    session.run(
        "fx",
        "serve",
        "--root",
        str(GUESTBOOK),
        *session.posargs,
        env={"FX_SECRET_KEY": secrets.token_urlsafe(32)},
    )


@nox.session
def lint(session: nox.Session) -> None:
    """Check the style of the Python files."""
    session.install("ruff>=0.14")
    _lint(session)


@nox.session
def types(session: nox.Session) -> None:
    """Check the types of the Python files."""
    session.install("-e", ".[dev]")
    _types(session)


@nox.session
def js(session: nox.Session) -> None:
    """Check and test the JavaScript that runs in browsers and render workers."""
    _js(session)


@nox.session
def vscode(session: nox.Session) -> None:
    """Package the extension for Visual Studio Code into editors/vscode/dist, and test it."""
    session.install("-e", ".")
    _vscode(session)


@nox.session
def in_vscode(session: nox.Session) -> None:
    """Use the packaged extension in a real Visual Studio Code (npm package), in Chromium."""
    session.install("-e", ".[dev]")
    _vscode(session)
    session.run("pytest", "tests/lsp/in_vscode.py", *session.posargs)


@nox.session
def tests(session: nox.Session) -> None:
    """Run all tests but those with a browser; arguments after -- go to pytest."""
    session.install("-e", ".[dev]")
    session.run("pytest", *PARALLEL, "-m", "not browser", *session.posargs)


@nox.session
def e2e(session: nox.Session) -> None:
    """Run the tests with a browser (Chromium on the PATH)."""
    session.install("-e", ".[dev]")
    session.run("pytest", "-m", "browser", *session.posargs)


@nox.session
def docs(session: nox.Session) -> None:
    """Run the code of the documentation."""
    session.install("-e", ".[dev]")
    session.run("pytest", "tests/docs", *session.posargs)


@nox.session
def attack(session: nox.Session) -> None:
    """Attack a real app for ten minutes at most; arguments after -- go to it (--seconds 60)."""
    _program(session, "tests.attack")


@nox.session
def outages(session: nox.Session) -> None:
    """Take the store of channels away under load, in full; arguments after -- go to it."""
    _program(session, "tests.outages")


@nox.session
def psycopg(session: nox.Session) -> None:
    """Run psycopg's own asynchronous tests on trio: `nox -s psycopg -- CHECKOUT [--quick]`."""
    _program(session, "tests.db.psycopg_suite")


@nox.session
def endurance(session: nox.Session) -> None:
    """Kill processes and servers under durable jobs, for some five minutes."""
    _program(session, "tests.jobs.endurance")


@nox.session
def edits(session: nox.Session) -> None:
    """Edit a project at random below `fx dev`; arguments after -- go to it (--seed 3)."""
    _program(session, "tests.edits")


@nox.session
def bench(session: nox.Session) -> None:
    """Measure against other frameworks and servers; needs wrk. See benchmarks/README.md.

    Arguments after -- go to the comparison of frameworks, and the servers are left out then.
    """
    _program(session, "benchmarks")
    if not session.posargs:
        session.run("python", "-m", "benchmarks.http")


@nox.session(name="bench-http")
def bench_http(session: nox.Session) -> None:
    """Measure the HTTP server alone; arguments after -- go to it."""
    _program(session, "benchmarks.http")


@nox.session
def ci(session: nox.Session) -> None:
    """Run everything a change must pass, the tests last; one failure hides no other."""
    with ThreadPoolExecutor() as pool:  # what waits for the network or one core, beside the rest
        found = {"js": pool.submit(_passes, _js, session)}
        session.install("-e", ".[dev]")
        for check in (_lint, _types, _vscode):
            found[check.__name__.strip("_")] = pool.submit(_passes, check, session)
    failed = [name for name, passed in found.items() if not passed.result()]
    if failed:
        session.warn(f"failed before the tests: {', '.join(failed)}")
    session.run("pytest", *PARALLEL, *session.posargs)
    if failed:
        session.error(f"the tests passed, but not {', '.join(failed)}")


def _program(session: nox.Session, module: str) -> None:
    session.install("-e", ".[dev]")
    session.run("python", "-m", module, *session.posargs)


def _passes(check: Callable[[nox.Session], None], session: nox.Session) -> bool:
    try:
        check(session)
    except CommandFailed:
        return False
    return True


def _lint(session: nox.Session) -> None:
    session.run("ruff", "check", *PYTHON_FILES)
    session.run("ruff", "format", "--check", *PYTHON_FILES)


def _types(session: nox.Session) -> None:
    session.run("mypy")


def _js(session: nox.Session) -> None:
    _npm(session, "fxtrio/js", "lint", "format:check", "types", "test")


def _vscode(session: nox.Session) -> None:
    _npm(session, "editors/vscode", "format:check", "types", "package", "test")


def _npm(session: nox.Session, folder: str, *scripts: str) -> None:
    npm = ("npm", "--prefix", str(ROOT / folder))
    session.run(*npm, "ci", "--no-audit", "--no-fund", external=True)
    for script in scripts:
        session.run(*npm, "run", "--silent", script, external=True)
