"""What the child is to import, and what it has found: JSON between `fx check` and its child."""

from __future__ import annotations

from typing import Any

import attrs
import msgspec

from fxtrio.compile.problems import Problem
from fxtrio.manifest import ActionModule, PageModule

IMPORT_TIMEOUT = 20.0
"""How long the import of one file may take (seconds)."""


@attrs.frozen(kw_only=True)
class Page:
    """The Python half of a page file that has no mistakes of its own."""

    module: PageModule
    python: str


@attrs.frozen(kw_only=True)
class Order:
    """What to import."""

    root: str
    """The project folder."""

    app: str
    """``module:name`` of the ASGI app; "" without one, or when it is not to be imported."""

    pages: tuple[Page, ...]
    endpoints: tuple[str, ...]
    """Sources of the Python files in `api` folders."""

    hooks: tuple[str, ...]
    """Sources of the `llms.py` files."""

    actions: tuple[ActionModule, ...] = ()
    """Modules of actions without mistakes of their own."""

    routes: tuple[str, ...] = ()
    """Patterns of all pages, endpoints and actions of modules."""

    has_app: bool = False
    """Whether the project has an app of its own, even if it is not to be imported."""

    timeout: float = IMPORT_TIMEOUT

    def to_json(self) -> bytes:
        """Return bytes that `from_json` reads."""
        return msgspec.json.encode(attrs.asdict(self))

    @classmethod
    def from_json(cls, text: bytes) -> Order:
        """Return the order that `to_json` wrote."""
        return msgspec.json.decode(text, type=cls)


@attrs.frozen
class SettingProblem:
    """A setting that cannot be used."""

    key: str
    """As in `ConfigProblem`."""

    cause: str

    missing: bool = False
    """Whether it is only not set, and the environment of the server may set it."""


@attrs.frozen
class Findings:
    """What came of it."""

    problems: tuple[Problem, ...] = ()
    """With paths relative to the project folder, or absolute ones outside of it."""

    settings: tuple[SettingProblem, ...] = ()


def step_line(source: str) -> bytes:
    """Return the line by which the child says what it imports now."""
    return msgspec.json.encode({"importing": source}) + b"\n"


def findings_line(findings: Findings) -> bytes:
    """Return the child's last line."""
    return msgspec.json.encode({"found": attrs.asdict(findings)}) + b"\n"


def read_lines(output: bytes) -> tuple[str, Findings | None]:
    """Return what was imported last, and the findings; None when the child did not get there."""
    last = ""
    for line in output.splitlines():
        record: dict[str, Any] = msgspec.json.decode(line)
        if "found" in record:
            return last, msgspec.convert(record["found"], Findings)
        last = record["importing"]
    return last, None
