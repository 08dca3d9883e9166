"""What contributors and CI run: `nox -s demo`, `nox -s ci`, or one of the sessions alone."""

from __future__ import annotations

import os
import secrets
import shutil
import sys
import tomllib
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import nox
from nox.command import CommandFailed

ROOT = Path(__file__).parent
sys.path.insert(0, str(ROOT))  # the command `nox` has the folder of its own script there

from tests.ci.distributions import check_distributions  # noqa: E402
from tests.ci.pytest_runs import (  # noqa: E402
    AGAIN,
    LONG,
    MEASURED,
    NO_FORKS,
    PARALLEL,
    SHORT,
    files_in_memory,
    forget_passed,
    run_again,
    run_first,
    run_pytest,
)
from tests.ci.pythons import PYTHONS, THIS_PYTHON, find_python, others_there  # noqa: E402

nox.needs_version = ">=2025.5"
nox.options.default_venv_backend = "uv|virtualenv"
nox.options.reuse_venv = "yes"
nox.options.sessions = ["lint", "types", "js", "tests"]

# Where it is set, each of the thousands of processes of a test run compiles what it imports.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

CERTIFICATES = "/etc/ssl/certs/ca-certificates.crt"
if os.environ.get("NODE_EXTRA_CA_CERTS") == CERTIFICATES:
    # Node reads all of them at each of a thousand starts, which is two thirds of a start, and npm
    # alone asks servers that need them: it takes the file, which is whole, as its only list.
    os.environ.setdefault("npm_config_cafile", os.environ.pop("NODE_EXTRA_CA_CERTS"))

GUESTBOOK = ROOT / "examples" / "guestbook"

ON_EACH = (
    "tests/compile",
    "tests/http1",
    "tests/markdown",
    "tests/realtime",
    "tests/routes",
    "tests/serve",
    "tests/simulation/test_engine.py",
    "tests/simulation/test_timers.py",
    "tests/simulation/test_trio_internals.py",
    "tests/test_task_threads.py",
    "tests/test_tasks.py",
)
ON_THOSE_BETWEEN = ("tests/compile", "tests/routes", "tests/test_tasks.py")
"""What `ci` runs on Pythons between the oldest and the newest: what reads or is Python's syntax.

What differs in the oldest and the newest alike is the same between them; `nightly` runs it all.
"""

_OF_THE_INTERPRETER = (
    *("actions", "anything_raised", "apis", "bodies", "compression", "no_cycles", "own_threads"),
    *("plain_functions", "recursive_bodies", "requests", "streams", "third_party_bodies"),
    *("uploads", "whose_code"),
)
ON_THE_NEWEST = (
    *ON_THOSE_BETWEEN,
    *("tests/http1", "tests/realtime"),
    *(f"tests/serve/test_{name}.py" for name in _OF_THE_INTERPRETER),
    "tests/simulation/test_engine.py::test_a_seed_means_the_same_on_each_python",
    "tests/simulation/test_timers.py",
    "tests/simulation/test_trio_internals.py",
    "tests/test_task_threads.py",
)
"""What `ci` runs on the newest Python: what meets more of the interpreter than its syntax.

That is sockets, threads, TLS and trio; and of requests, what reads annotations and signatures,
tracebacks, generators, garbage, compressed bodies and files. The rest of `ON_EACH` is rules of
the framework in code that these run as well: `nightly` runs it on each Python.
"""

REACHED = ("compile/split", "routes", "tasks")
"""Packages of fxtrio of which the tests of `ON_THOSE_BETWEEN` reach most.

`ci` prints their coverage. Tests of what waits would fail with a tracer on a busy machine. All of
fxtrio is measured by `coverage`, which `nightly` runs.
"""

REACHED_MINIMUM = 93
"""Percentage below which `ci` fails; 94.1 when it was set. Raise it, and do not lower it."""

APART = "not browser and not node", "not redis and not postgres"
"""Marks and names of the tests that need no other program: those are alike on each Python."""

IN_PROCESS = (
    *ON_EACH,
    *("tests/auth", "tests/compression", "tests/contract", "tests/convert", "tests/db"),
    *("tests/http2", "tests/jobs", "tests/openapi", "tests/plugins", "tests/ssr", "tests/testing"),
    "tests/types",
)
"""Tests whose code runs in the process of pytest, most of it, so that coverage sees it."""

PROGRAMS = (
    *("attack", "churn", "coverage", "edits", "endurance", "faults", "hostile", "libraries"),
    *("linear", "outages", "simulate", "vscode"),
)
"""Sessions that run for minutes, or install much, which `nightly` runs after the tests."""

PYTHON_FILES = ("fxtrio", "fx", "tests", "examples", "benchmarks", "editors", "docs", "noxfile.py")


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
def days(session: nox.Session) -> None:
    """Break a project in some sixty ways below one `fx dev`, and give it the first of each kind."""
    session.install("-e", ".[dev]")
    files = ("tests/cli/test_dev_days.py", "tests/cli/test_dev_firsts.py")
    session.run("pytest", *files, env=LONG)


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
    _package_vscode(session)


@nox.session
def in_vscode(session: nox.Session) -> None:
    """Use the packaged extension in a real Visual Studio Code (npm package), in Chromium."""
    session.install("-e", ".[dev]")
    _vscode(session)
    _package_vscode(session)
    session.run("pytest", "tests/lsp/in_vscode.py", *session.posargs)


@nox.session
def tests(session: nox.Session) -> None:
    """Run all tests but those with a browser; arguments after -- go to pytest."""
    session.install("-e", ".[dev]")
    with files_in_memory(session):
        session.run("pytest", *PARALLEL, "-m", "not browser", *session.posargs)


@nox.session
def nightly(session: nox.Session) -> None:
    """Run all tests, the long ones too, with many examples, and then all that runs for minutes.

    Each process that the tests start has an interpreter of its own, whose end is seen as well.
    """
    session.install("-e", ".[dev]")
    with files_in_memory(session):
        session.run("pytest", *PARALLEL, *session.posargs, env=LONG | NO_FORKS)
    if not session.posargs:
        for program in (*PROGRAMS, *(f"tests-{version}" for version in others_there())):
            session.notify(program)


@nox.session
def coverage(session: nox.Session) -> None:
    """Print by file what tests reach of fxtrio, branches too, and fail below the floor.

    It runs few cases of the tests that need neither Node nor a browser, or what follows --, for
    which there is no floor. The floor is in pyproject.toml.
    """
    session.install("-e", ".[dev]")
    single = (f"tests/{file.name}" for file in sorted(ROOT.glob("tests/test_*.py")))
    chosen = session.posargs or (*IN_PROCESS, *single)
    marks = ("-m", "not node and not browser")
    session.env["COVERAGE_FILE"] = str(ROOT / ".nox" / "coverage.data")
    try:
        run_first(session, *PARALLEL, *marks, *MEASURED, *dict.fromkeys(chosen), env=SHORT)
    except CommandFailed:
        run_again(session, env=SHORT)
    session.run("coverage", "report", *(["--fail-under=0"] if session.posargs else []))


def tests_on(version: str) -> None:
    """Define the session that runs the tests of `ON_EACH` on one Python."""
    python = find_python(version)

    @nox.session(name=f"tests-{version}", python=python or False)
    def on_one(session: nox.Session) -> None:
        if python is None:
            session.skip(f"there is no Python {version} on this machine")
        session.install("-e", ".[dev]")
        data = ROOT / ".nox" / f"coverage-{version}.data"
        session.env["COVERAGE_FILE"] = str(data)
        if session.posargs == [AGAIN]:
            run_again(session, env=SHORT)
        else:
            data.unlink(missing_ok=True)
            marks, names = APART
            chosen = session.posargs or ON_EACH
            run_first(session, "-q", "-m", marks, "-k", names, *chosen, env=SHORT)
        if data.exists():
            folders = ",".join(f"fxtrio/{folder}/*" for folder in REACHED)
            minimum = f"--fail-under={REACHED_MINIMUM}"
            session.run("coverage", "report", f"--include={folders}", minimum)

    on_one.__doc__ = f"Run the tests without Node and a browser on Python {version}."


for _version in PYTHONS:
    tests_on(_version)


@nox.session
def e2e(session: nox.Session) -> None:
    """Run the tests with a browser (Chromium on the PATH)."""
    session.install("-e", ".[dev]")
    session.run("pytest", "-m", "browser", *session.posargs)


@nox.session
def docs(session: nox.Session) -> None:
    """Run the code and the commands of the documentation."""
    session.install("-e", ".[dev]")
    session.run("pytest", "tests/docs", *session.posargs)


@nox.session
def site(session: nox.Session) -> None:
    """Build the documentation site and serve it, with the examples that it links.

    It is served on http://127.0.0.1:8000. Arguments after -- go to docs/site/build.py, and then
    nothing is served: `nox -s site -- --export`.
    """
    session.install("-e", ".[dev]")
    program = "build" if session.posargs else "serve"
    session.run("python", f"docs/site/{program}.py", *session.posargs)


@nox.session
def pictures(session: nox.Session) -> None:
    """Draw the diagrams of the documentation again, and photograph the product for the README."""
    _program(session, "tests.docs.draw")
    session.run("python", "-m", "tests.e2e.pictures")


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
def faults(session: nox.Session) -> None:
    """Run a bank under faults of processes, database and network; arguments after -- go to it."""
    _program(session, "tests.faults")


@nox.session
def churn(session: nox.Session) -> None:
    """Let clients come and go for ten minutes, and look at what is held; -- --seconds 60."""
    _program(session, "tests.faults.churn")


@nox.session
def edits(session: nox.Session) -> None:
    """Edit a project at random below `fx dev`; arguments after -- go to it (--seed 3)."""
    _program(session, "tests.edits")


@nox.session
def hostile(session: nox.Session) -> None:
    """Give random hostile files to check, build, format, lsp and dev, for ten minutes."""
    _program(session, "tests.hostile_files")


@nox.session
def linear(session: nox.Session) -> None:
    """Time every parser with long hostile texts, which sees work within C as well."""
    _program(session, "tests.linear")


@nox.session
def libraries(session: nox.Session) -> None:
    """Use the libraries that the guide lists, from the registries; arguments after -- go to it."""
    listed = tomllib.loads((ROOT / "tests/libraries/libraries.toml").read_text("utf-8"))
    session.install(*(package for one in listed["python"] for package in one["packages"]))
    _program(session, "tests.libraries")


@nox.session
def simulate(session: nox.Session) -> None:
    """Simulate the runtime's promises with 100,000 seeds each, or with the arguments after --."""
    session.install("-e", ".[dev]")
    seeds = session.posargs or ("--fx-seeds", "100000")
    session.run("pytest", *PARALLEL, "tests/simulation/runtime", *seeds)


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


@nox.session(name="bench-growth")
def bench_growth(session: nox.Session) -> None:
    """Measure how costs grow with rows, pages, connections, members, clients, tasks; needs wrk."""
    _program(session, "benchmarks.growth")


@nox.session
def ci(session: nox.Session) -> None:
    """Run everything a change must pass, the tests last; one failure hides no other."""
    there = others_there()
    absent = [version for version in PYTHONS if version not in (THIS_PYTHON, *there)]
    session.log(f"Pythons beside this one: {', '.join(there) or 'none'}")
    if absent:
        session.warn(f"not on this machine, and not tested: Python {', '.join(absent)}")
    with files_in_memory(session), ThreadPoolExecutor() as pool:
        found = {"js": pool.submit(_passes, _js, session)}
        session.install("-e", ".[dev]")
        for check in (_lint, _types, _vscode, check_distributions):
            found[check.__name__.strip("_")] = pool.submit(_passes, check, session)
        # From here on they have the cores that the rest leaves them: what waits, or has one thread.
        on_others = pool.submit(_passes, partial(_on_others_first, there), session)
        failed = [name for name, passed in found.items() if not passed.result()]
        if failed:
            session.warn(f"failed before the tests: {', '.join(failed)}")
        run_pytest(session, *PARALLEL, *session.posargs)
        if not on_others.result() and not _passes(partial(_on_others, there, (AGAIN,)), session):
            failed.append("the tests on other Pythons")
    if failed:
        session.error(f"the tests passed, but not {', '.join(failed)}")


@nox.session
def package(session: nox.Session) -> None:
    """Install the wheel in a fresh environment on each Python, the sdist on this; print sizes."""
    session.install("-e", ".[dev]")
    check_distributions(session)


def _program(session: nox.Session, module: str) -> None:
    session.install("-e", ".[dev]")
    session.run("python", "-m", module, *session.posargs)


def _passes(check: Callable[[nox.Session], None], session: nox.Session) -> bool:
    try:
        check(session)
    except CommandFailed:
        return False
    return True


def _on_others_first(versions: list[str], session: nox.Session) -> None:
    """Run the tests that `ci` has for each of the other Pythons, the newest one last."""
    forget_passed(f"tests-{version}" for version in versions)
    between = (*ON_THOSE_BETWEEN, *MEASURED)
    found = [_passes(partial(_on_others, versions[:-1], between), session)]
    found.append(_passes(partial(_on_others, versions[-1:], ON_THE_NEWEST), session))
    if not all(found):
        raise CommandFailed("tests failed on other Pythons")


def _on_others(versions: list[str], arguments: Sequence[str], session: nox.Session) -> None:
    """Run the sessions of other Pythons, one after the other; `arguments` go to each."""
    if versions:
        names = [f"tests-{version}" for version in versions]
        nice = ["nice"] if shutil.which("nice") and AGAIN not in arguments else []
        command = [*nice, "python", "-m", "nox", "-s", *names]
        session.run(*command, *(["--", *arguments] if arguments else []), external=True)


def _lint(session: nox.Session) -> None:
    session.run("ruff", "check", *PYTHON_FILES)
    session.run("ruff", "format", "--check", *PYTHON_FILES)


def _types(session: nox.Session) -> None:
    session.run("mypy")
    python = str(Path(session.bin) / "python")
    session.run("pyright", "--project", "tests/typing", "--pythonpath", python)


def _js(session: nox.Session) -> None:
    _npm(session, "fxtrio/js", "lint", "format:check", "types", "test")


def _vscode(session: nox.Session) -> None:
    _npm(session, "editors/vscode", "format:check", "types", "build", "test")


def _package_vscode(session: nox.Session) -> None:
    """Package the extension, and look at what the package holds.

    `ci` leaves it to `nightly`: to install what packages it takes longer than all else of it.
    """
    _npm(session, "editors/vscode/vsce", "package", "test")


def _npm(session: nox.Session, folder: str, *scripts: str) -> None:
    npm = ("npm", "--prefix", str(ROOT / folder))
    session.run(*npm, "ci", "--no-audit", "--no-fund", external=True)
    for script in scripts:
        session.run(*npm, "run", "--silent", script, external=True)
