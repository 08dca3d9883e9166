"""What findings are about, and how much each kind weighs: one table for all that tell them.

`fx check`, `fx typecheck`, `fx build`, `fx dev` and editors look at different parts of a project;
what two of them find is the same to both.
"""

from __future__ import annotations

from enum import Enum


class Severity(Enum):
    """Whether a finding keeps something from working."""

    ERROR = "error"
    """What it names fails: nothing is built of it, or it fails when it is used."""

    WARNING = "warning"
    """It works as it is, unless it is what it looks like: a mistake. A build goes on."""


class FindingKind(Enum):
    """What a finding is about."""

    SETTINGS = "settings"
    """Values of `fx.config.json`, `.env` and the environment."""

    PAGES = "pages"
    """Routes, and the syntax and rules of page files, endpoints and `llms.py`."""

    CODE = "code"
    """Python code that cannot be imported, or is no endpoint, hook or middleware."""

    MIGRATIONS = "migrations"
    """Files of migrations, and what a database says of them."""

    UI = "ui"
    """UI code that cannot work: imports that lead nowhere, actions that do not exist."""

    LIKELY = "likely"
    """UI code that fails unless there is more to it, such as a global of another script."""

    TYPES = "types"
    """What passes between the two halves of a page does not fit."""

    UNKNOWN_TYPES = "unknown-types"
    """Types that are unknown (``--strict``)."""

    PYTHON_TYPES = "python-types"
    """What mypy, pyright or pyrefly says of the Python halves."""

    AROUND = "around"
    """Packages that are not installed, and files that nothing reads or shows."""

    FOREIGN = "foreign"
    """Code written for another framework or event loop: it fails when it is run, or does
    something else."""

    EXTRAS = "extras"
    """Parts of fxtrio that the settings use, and that are not installed here."""

    ENVIRONMENT = "environment"
    """Settings that a plugin needs and that are not set here: the environment of the server
    may set them, so they fail neither a check nor a build."""

    UNGUARDED = "unguarded"
    """What anybody may call although pages are guarded."""


SEVERITIES = {
    FindingKind.SETTINGS: Severity.ERROR,
    FindingKind.PAGES: Severity.ERROR,
    FindingKind.CODE: Severity.ERROR,
    FindingKind.MIGRATIONS: Severity.ERROR,
    FindingKind.UI: Severity.ERROR,
    FindingKind.LIKELY: Severity.WARNING,
    FindingKind.TYPES: Severity.WARNING,
    FindingKind.UNKNOWN_TYPES: Severity.WARNING,
    FindingKind.PYTHON_TYPES: Severity.WARNING,
    FindingKind.AROUND: Severity.WARNING,
    FindingKind.FOREIGN: Severity.WARNING,
    FindingKind.EXTRAS: Severity.WARNING,
    FindingKind.ENVIRONMENT: Severity.WARNING,
    FindingKind.UNGUARDED: Severity.WARNING,
}
