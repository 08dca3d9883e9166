"""Every package that an installation brings has a licence that is listed and allowed."""

from __future__ import annotations

import re

import pytest

from tests.packages.licences import ALLOWED, DOCS, EXCEPTIONS, npm_packages, python_packages

PYTHON = {name: licence for name, (licence, _) in python_packages().items()}
LISTED = dict(
    re.findall(
        r"(?m)^\| `([^`]+)` \| ([^|]+) \| (?:npm|always|extra `[^`]+`) \|$", DOCS.read_text()
    )
)


@pytest.mark.parametrize("name", sorted({**PYTHON, **npm_packages()}))
def test_a_licence_is_allowed_and_listed(name: str) -> None:
    licence = {**npm_packages(), **PYTHON}[name]
    assert EXCEPTIONS.get(name) == licence or set(re.split(r" (?:OR|AND) ", licence)) <= ALLOWED
    assert LISTED.get(name) == licence, "python -m tests.packages.licences prints the table"


def test_no_exception_is_left_over() -> None:
    assert EXCEPTIONS.keys() <= {**PYTHON, **npm_packages()}.keys()
