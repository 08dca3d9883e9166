"""Run psycopg's own asynchronous tests on trio.

    python -m tests.db.psycopg_suite PATH [--quick] [PYTEST OPTIONS …]

PATH is a checkout of psycopg of the version that is installed, or near it: its packages on
PyPI come without tests. All of them take some minutes, ``--quick`` leaves the slow ones out.
At least `LEAST` must pass, or `LEAST_QUICK`; left_out.toml says of each that is not run why.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import psycopg

from tests.db.cluster import running_cluster

LEAST, LEAST_QUICK = 990, 800
"""Tests that must pass when all are run, and without the slow ones (counts)."""

HERE = Path(__file__).parent
ASYNCIO = 'pytest.param(("asyncio", asyncio_options.copy()), id="asyncio")'
TRIO = 'pytest.param(("trio", {}), id="trio")'


def copied(checkout: Path, to: Path) -> list[str]:
    """Copy psycopg's tests, let them run on trio, and return the files with asynchronous ones."""
    shutil.copytree(checkout / "tests", to / "tests")
    conftest = to / "tests" / "conftest.py"
    text = conftest.read_text()
    if ASYNCIO not in text:
        sys.exit(f"{checkout}: its tests/conftest.py has another 'anyio_backend' than expected.")
    conftest.write_text(text.replace(ASYNCIO, TRIO))
    options = "[pytest]\nfilterwarnings =\n  error\n"
    (to / "pytest.ini").write_text(options)
    files = sorted((to / "tests").glob("**/test_*.py"))
    return [
        str(path.relative_to(to))
        for path in files
        if path.parent.name not in ("pool", "crdb", "scripts")
        and "tstring" not in path.name
        and re.search(r"^async def test_", path.read_text(), re.MULTILINE)
    ]


def main() -> int:
    """Return the exit code: 1 when a test failed, or too few passed."""
    parser = argparse.ArgumentParser(description=__doc__, usage="%(prog)s PATH [--quick]")
    parser.add_argument("checkout", type=Path)
    parser.add_argument("--quick", action="store_true")
    options, more = parser.parse_known_args()
    with (
        tempfile.TemporaryDirectory() as name,
        running_cluster("max_prepared_transactions=10") as cluster,
    ):
        files = copied(options.checkout, Path(name))
        words = [sys.executable, "-m", "pytest", "-q", "-p", "plugin", "-p", "no:trio"]
        words += ["--test-dsn", cluster.new_database(), *more]
        words += ["-m", "not slow and not timing"] if options.quick else []
        done = subprocess.run(
            [*words, *files],
            cwd=name,
            env={**os.environ, "PYTHONPATH": str(HERE)},
            stdout=subprocess.PIPE,
            text=True,
        )
    print(done.stdout)
    passed = int((re.findall(r"(\d+) passed", done.stdout) or ["0"])[-1])
    print(f"psycopg {psycopg.__version__}: {passed} of its asynchronous tests pass on trio")
    return done.returncode or int(passed < (LEAST_QUICK if options.quick else LEAST))


if __name__ == "__main__":
    sys.exit(main())
