"""Every package that an installation brings has a licence that is listed and allowed."""

from __future__ import annotations

import re
from functools import cache

from tests.packages.licences import ALLOWED, DOCS, EXCEPTIONS, npm_packages, python_packages

LISTED = dict(
    re.findall(
        r"(?m)^\| `([^`]+)` \| ([^|]+) \| (?:npm|always|extra `[^`]+`) \|$", DOCS.read_text()
    )
)


@cache
def licences() -> dict[str, str]:
    """Return the licence of each package, by its name."""
    return npm_packages() | {name: licence for name, (licence, _) in python_packages().items()}


def test_each_licence_is_allowed() -> None:
    allowed = {
        name
        for name, licence in licences().items()
        if EXCEPTIONS.get(name) == licence or set(re.split(r" (?:OR|AND) ", licence)) <= ALLOWED
    }
    assert len(licences()) > 50
    assert {name: one for name, one in licences().items() if name not in allowed} == {}


def test_each_licence_is_listed() -> None:
    """`python -m tests.packages.licences` prints the table."""
    listed = {name: LISTED.get(name) for name in licences()}
    assert listed == licences()


def test_no_exception_is_left_over() -> None:
    assert EXCEPTIONS.keys() <= licences().keys()
