"""What contributors and CI run: `nox -s demo`, `nox -s ci`, or one of the sessions alone."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import nox
from nox.command import CommandFailed

nox.needs_version = ">=2025.5"
nox.options.default_venv_backend = "uv|virtualenv"
nox.options.reuse_venv = "yes"
nox.options.sessions = ["lint", "types", "js", "tests"]

# Where it is set, each of the thousands of processes of a test run compiles what it imports.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

ROOT = Path(__file__).parent
MEMORY, ROOM = Path("/dev/shm"), 2 << 30
"""A folder in memory, and what must be free there for files of tests (bytes; a tenth is used)."""

GUESTBOOK = ROOT / "examples" / "guestbook"
PARALLEL = ("-n", "auto", "--dist", "loadfile", "--no-loadscope-reorder")
"""Tests of one file share servers and builds, so they stay together.

`tests/conftest.py` says how many run beside each other, and in which order.
"""

PYTHONS = ("3.11", "3.12", "3.13", "3.14")
"""Those that fxtrio runs on; one has all tests, and the others those of `ON_EACH`."""

THIS_PYTHON = "{}.{}".format(*sys.version_info)

ON_EACH = (
    "tests/compile",
    "tests/http1",
    "tests/markdown",
    "tests/realtime",
    "tests/routes",
    "tests/serve",
    "tests/simulation/test_engine.py",
    "tests/simulation/test_trio_internals.py",
    "tests/test_task_threads.py",
    "tests/test_tasks.py",
)
ON_THOSE_BETWEEN = ("tests/compile", "tests/routes", "tests/test_tasks.py")
"""What `ci` runs on Pythons between the oldest and the newest: what reads or is Python's syntax.

What differs in the oldest and the newest alike is the same between them; `nightly` runs it all.
"""

APART = "not browser and not node", "not redis and not postgres"
"""Marks and names of the tests that need no other program: those are alike on each Python."""

IN_PROCESS = (
    *ON_EACH,
    *("tests/auth", "tests/compression", "tests/contract", "tests/convert", "tests/db"),
    *("tests/http2", "tests/jobs", "tests/openapi", "tests/plugins", "tests/ssr", "tests/testing"),
    "tests/types",
)
"""Tests whose code runs in the process of pytest, most of it, so that coverage sees it."""

MOST_AGAIN = 16
"""Tests that run once more when they have failed (count)."""

AGAIN = "--again"
"""The argument of a session of tests on one Python that runs only what failed before."""

SHORT = {"FXTRIO_TESTS": "short"}
LONG = {"FXTRIO_TESTS": "long"}
"""How many examples and cases the tests try: `tests/short.py`."""

PROGRAMS = (
    *("attack", "churn", "coverage", "edits", "endurance", "faults", "hostile", "libraries"),
    *("linear", "outages", "simulate"),
)
"""Sessions that run for minutes, which `nightly` runs after the tests."""

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
    with _files_in_memory(session):
        session.run("pytest", *PARALLEL, "-m", "not browser", *session.posargs)


@nox.session
def nightly(session: nox.Session) -> None:
    """Run all tests, the long ones too, with many examples, and then all that runs for minutes."""
    session.install("-e", ".[dev]")
    with _files_in_memory(session):
        session.run("pytest", *PARALLEL, *session.posargs, env=LONG)
    if not session.posargs:
        for program in (*PROGRAMS, *(f"tests-{version}" for version in _others_there())):
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
    measured = ("--cov", "--cov-report=", "--cov-fail-under=0")
    session.env["COVERAGE_FILE"] = str(ROOT / ".nox" / "coverage.data")
    try:
        _first(session, *PARALLEL, *marks, *measured, *dict.fromkeys(chosen), env=SHORT)
    except CommandFailed:
        _again(session, env=SHORT)
    session.run("coverage", "report", *(["--fail-under=0"] if session.posargs else []))


def find_python(version: str) -> str | None:
    """Return a Python of this version that starts: on the PATH, of pyenv, or of uv."""
    home = Path.home()
    pyenv = Path(os.environ.get("PYENV_ROOT") or home / ".pyenv")
    data = Path(os.environ.get("XDG_DATA_HOME") or home / ".local/share")
    name = f"python{version}"

    def candidates() -> Iterator[str | Path]:
        if (found := shutil.which(name)) is not None:
            yield found
        yield from sorted(pyenv.glob(f"versions/{version}*/bin/{name}"), reverse=True)
        yield from sorted(data.glob(f"uv/python/cpython-{version}.*/bin/{name}"), reverse=True)

    code = "import sys, ensurepip, ssl, sqlite3; print('%d.%d' % sys.version_info[:2])"
    for python in candidates():  # a shim of pyenv may stand for nothing
        command = [str(python), "-c", code]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode == 0 and done.stdout.strip() == version:
            return str(python)
    return None


def tests_on(version: str) -> None:
    """Define the session that runs the tests of `ON_EACH` on one Python."""
    python = find_python(version)

    @nox.session(name=f"tests-{version}", python=python or False)
    def on_one(session: nox.Session) -> None:
        if python is None:
            session.skip(f"there is no Python {version} on this machine")
        session.install("-e", ".[dev]")
        if session.posargs == [AGAIN]:
            _again(session, env=SHORT)
            return
        marks, names = APART
        _first(session, "-q", "-m", marks, "-k", names, *(session.posargs or ON_EACH), env=SHORT)

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
    """Measure how costs grow with rows, pages, connections, members, tasks; needs wrk."""
    _program(session, "benchmarks.growth")


@nox.session
def ci(session: nox.Session) -> None:
    """Run everything a change must pass, the tests last; one failure hides no other."""
    there = _others_there()
    absent = [version for version in PYTHONS if version not in (THIS_PYTHON, *there)]
    session.log(f"Pythons beside this one: {', '.join(there) or 'none'}")
    if absent:
        session.warn(f"not on this machine, and not tested: Python {', '.join(absent)}")
    with _files_in_memory(session), ThreadPoolExecutor() as pool:
        found = {"js": pool.submit(_passes, _js, session)}
        session.install("-e", ".[dev]")
        for check in (_lint, _types, _vscode, _package):
            found[check.__name__.strip("_")] = pool.submit(_passes, check, session)
        # From here on they have the cores that the rest leaves them: what waits, or has one thread.
        on_others = pool.submit(_passes, partial(_on_others_first, there), session)
        failed = [name for name, passed in found.items() if not passed.result()]
        if failed:
            session.warn(f"failed before the tests: {', '.join(failed)}")
        _pytest(session, *PARALLEL, *session.posargs)
        if not on_others.result() and not _passes(partial(_on_others, there, (AGAIN,)), session):
            failed.append("the tests on other Pythons")
    if failed:
        session.error(f"the tests passed, but not {', '.join(failed)}")


@nox.session
def package(session: nox.Session) -> None:
    """Install the wheel in a fresh environment on each Python, the sdist on this; print sizes."""
    session.install("-e", ".[dev]")
    _package(session)


def _package(session: nox.Session) -> None:
    with TemporaryDirectory(prefix="fxtrio-package-") as folder:
        dist = Path(folder) / "dist"
        session.run("python", "-m", "hatchling", "build", "-d", str(dist), silent=True)
        (wheel,), (sdist,) = dist.glob("*.whl"), dist.glob("*.tar.gz")
        for version in (THIS_PYTHON, *_others_there()):
            for built in (wheel, sdist) if version == THIS_PYTHON else (wheel,):
                size = _installed(
                    session, version, built, Path(folder) / f"{version}{built.suffix}"
                )
                session.log(f"Python {version}, {built.name}: {size / 1e6:.0f} MB are installed")


def _installed(session: nox.Session, version: str, built: Path, environment: Path) -> int:
    """Install a distribution in a new environment, run its command, and return the size (bytes)."""
    python = find_python(version) or sys.executable
    inner = str(environment / "bin" / "python")
    if shutil.which("uv"):
        session.run("uv", "venv", "-q", "-p", python, str(environment), external=True)
        install = ("uv", "pip", "install", "-q", "--python", inner)
    else:
        session.run(python, "-m", "venv", str(environment), external=True)
        install = (inner, "-m", "pip", "--disable-pip-version-check", "install", "-q")
    session.run(*install, str(built), external=True)
    project = str(environment / "project")
    session.run(str(environment / "bin" / "fx"), "init", project, external=True, silent=True)
    files = environment.rglob("*")
    return sum(file.lstat().st_size for file in files if not file.is_symlink() and file.is_file())


def _program(session: nox.Session, module: str) -> None:
    session.install("-e", ".[dev]")
    session.run("python", "-m", module, *session.posargs)


def _pytest(session: nox.Session, *arguments: str) -> None:
    """Run tests, and those that failed once more."""
    try:
        _first(session, *arguments)
    except CommandFailed:
        _again(session)


@contextmanager
def _files_in_memory(session: nox.Session) -> Iterator[None]:
    """Let temporary files be in memory for the length of the block, if they fit.

    Most tests write a small project and delete it: on a disk that is a sixth of their CPU time.
    """
    if not os.access(MEMORY, os.W_OK) or shutil.disk_usage(MEMORY).free < ROOM:
        session.log(f"{MEMORY} has no room for the files of tests: they are on the disk")
        yield
        return
    with tempfile.TemporaryDirectory(prefix="fx", dir=MEMORY, ignore_cleanup_errors=True) as folder:
        Path(folder).chmod(0o711)  # PostgreSQL runs as another user, and has its data below it
        session.env["TMPDIR"] = folder
        try:
            yield
        finally:
            del session.env["TMPDIR"]


def _first(session: nox.Session, *arguments: str, env: dict[str, str] | None = None) -> None:
    """Run tests, and remember which failed."""
    cached = ("-o", f"cache_dir={_cache(session)}")
    session.run("pytest", "--cache-clear", *cached, *arguments, env=env)


def _again(session: nox.Session, env: dict[str, str] | None = None) -> None:
    """Run the tests that failed once more, if they are few, one after the other.

    A test that passes then is named. It may still be wrong, or what it tests: a deadline that is
    too short, or an order that only a loaded machine has.
    """
    known = _cache(session) / "v/cache/lastfailed"
    if not known.is_file():  # pytest removes the list of a run in which nothing failed
        if (_cache(session) / "v/cache/nodeids").is_file():
            return
        session.error("the tests did not run to their end")
    failed = list(json.loads(known.read_bytes()))
    if len(failed) > MOST_AGAIN or not all("::" in test for test in failed):
        session.error(f"failed, and too many to run once more: {', '.join(failed)}")
    session.warn(f"these failed beside others, and run once more: {', '.join(failed)}")
    session.run("pytest", "-o", f"cache_dir={_cache(session)}", *failed, env=env)
    session.warn(f"repair these, which passed the second time only: {', '.join(failed)}")


def _cache(session: nox.Session) -> Path:
    return ROOT / ".nox" / f"cache-{session.name}"


def _passes(check: Callable[[nox.Session], None], session: nox.Session) -> bool:
    try:
        check(session)
    except CommandFailed:
        return False
    return True


def _others_there() -> list[str]:
    """Return the other Pythons that are on this machine, the oldest first."""
    others = (version for version in PYTHONS if version != THIS_PYTHON)
    return [version for version in others if find_python(version) is not None]


def _on_others_first(versions: list[str], session: nox.Session) -> None:
    """Run the tests that `ci` has for each of the other Pythons, the newest one last."""
    found = [_passes(partial(_on_others, versions[:-1], ON_THOSE_BETWEEN), session)]
    found.append(_passes(partial(_on_others, versions[-1:], ()), session))
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
    _npm(session, "editors/vscode", "format:check", "types", "package", "test")


def _npm(session: nox.Session, folder: str, *scripts: str) -> None:
    npm = ("npm", "--prefix", str(ROOT / folder))
    session.run(*npm, "ci", "--no-audit", "--no-fund", external=True)
    for script in scripts:
        session.run(*npm, "run", "--silent", script, external=True)
