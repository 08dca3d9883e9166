"""The packages themselves: light to import, with their names looked up at the first use."""

import subprocess
import sys

import pytest

import fx
import fxtrio
import fxtrio.app
import fxtrio.db


def loaded_by(code: str) -> set[str]:
    """Return the modules that a fresh interpreter has after ``code``."""
    command = [sys.executable, "-c", f"import sys; {code}; print(*sys.modules)"]
    return set(subprocess.run(command, capture_output=True, check=True, text=True).stdout.split())


def test_create_app_comes_from_the_package():
    from fxtrio import create_app

    assert create_app is fxtrio.app.create_app


def test_both_packages_have_the_version_of_the_distribution():
    from importlib.metadata import version

    assert fx.__version__ == fxtrio.__version__ == version("fxtrio")


@pytest.mark.parametrize("package", [fx, fxtrio], ids=lambda package: package.__name__)
def test_other_names_are_missing_as_in_any_module(package):
    with pytest.raises(AttributeError, match=f"module '{package.__name__}' has no attribute 'x'"):
        package.x  # noqa: B018


@pytest.mark.parametrize("package", ["fx", "fxtrio"])
def test_importing_a_package_loads_no_other(package):
    heavy = {"trio", "starlette", "hypercorn", "attrs", "importlib.metadata", "fxtrio.app"}
    assert loaded_by(f"import {package}") & heavy == set()


def test_a_command_that_reads_the_settings_loads_no_server_and_no_driver():
    heavy = {"asyncio", "hypercorn", "psycopg", "sqlite3", "starlette"}
    assert loaded_by("import fxtrio.cli.config, fxtrio.cli.db") & heavy == set()


def test_names_of_the_database_are_imported_when_they_are_requested():
    names = "Database, db, get_database, open_database"
    loaded = loaded_by(f"from fxtrio.db import {names}")
    assert {"fxtrio.db.database", "fxtrio.db.open", "fxtrio.db.proxy"} <= loaded
    assert {"sqlite3", "psycopg"} & loaded == set()  # drivers come with the database that is opened
    with pytest.raises(AttributeError, match=r"module 'fxtrio\.db' has no attribute 'x'"):
        getattr(sys.modules["fxtrio.db"], "x")  # noqa: B009
