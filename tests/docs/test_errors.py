"""docs/reference/errors.md has a section for each error class that a user can meet."""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Iterator

import pytest

import fxtrio
from fxtrio.errors import (
    DottedNameUnknown,
    FxtrioError,
    LoaderError,
    PlacedError,
    SeveralProblems,
    Signal,
)
from tests.docs.pages import DOCS

INTERNAL = {
    # Bases of others, which have their sections.
    "AssetInvalid",
    "FunctionInvalid",
    "PlacedError",
    "ResultInvalid",
    "SeveralProblems",
    # Between the parts of a command; none leaves it.
    "ConnectionLost",
    "FrameInvalid",
    "NotImported",
    "OrderVoid",
    "TrialCrashed",
    "TypesUnknown",
}
WITHOUT_PLACE = {
    "Busy": "a base: what clients read is its `message`, and each subclass has its place",
    "ListingBusy": "its `message` is all that anybody reads",
    "RenderError": "a base, also of RenderFailed",
    "RenderFailed": "the text is that of JavaScript: its class and its message",
    "LifespanFailed": "the text is the application's own",
    "StartFailed": "the text is the application's own",
    "NotDescribed": "the text is that of the process that imports the project",
    "BudgetExceeded": "one remedy for all of its pages",
    "OrderVoid": "it is caught where the order is repeated",
    "BadMessage": "the text is the reason of a close frame",
    "MessageOfOtherKind": "the text is the reason of a close frame",
    "BadResponse": "a RuntimeError, as servers raise it where an application breaks ASGI",
    "UnexpectedMessageError": "of the name that Hypercorn gives it",
    "ToolFailed": "the text is the answer to an agent",
    "QueryRejected": "the text is the answer of the studio",
    "Impatient": "no Exception, so that the imported code lets it pass",
    "Stuck": "the report of a simulation has the tasks",
    "InvariantBroken": "an AssertionError: the test has failed, and has no error",
    "NotRepeatable": "an AssertionError: the test has failed, and has no error",
    "StoreLost": "an OSError, as a connection that breaks raises it",
    "ConnectionLost": "an OSError, as a connection that breaks raises it",
}
"""Classes without ``place: cause. Remedy.``, and why."""

APART = {"starter", "__main__"}
"""Modules that are not imported: files for projects, and commands."""


def subclasses(base: type[BaseException]) -> Iterator[type[BaseException]]:
    for one in base.__subclasses__():
        yield one
        yield from subclasses(one)


@pytest.fixture(scope="module")
def raised() -> list[type[BaseException]]:
    """Return all exception classes of fxtrio."""
    for module in pkgutil.walk_packages(fxtrio.__path__, "fxtrio."):
        if APART.isdisjoint(module.name.split(".")):
            importlib.import_module(module.name)
    every = dict.fromkeys(subclasses(BaseException))
    return [one for one in every if one.__module__.startswith("fxtrio.")]


def test_each_text_that_somebody_reads_has_a_place_a_cause_and_a_remedy(
    raised: list[type[BaseException]],
) -> None:
    [base] = FxtrioError.__bases__
    for_clients = {one for one in subclasses(base) if not issubclass(one, FxtrioError)}
    other = {
        one.__name__
        for one in raised
        if not issubclass(one, (PlacedError, SeveralProblems, Signal))
        if one not in (base, FxtrioError, Signal, *for_clients)
    }

    assert other == set(WITHOUT_PLACE)


def test_a_question_of_somebody_else_does_not_replace_a_remedy() -> None:
    error = DottedNameUnknown("a:b", "the connection was refused. Is the server running?")
    assert str(error).endswith(f"Is the server running? {DottedNameUnknown.remedy}.")


def test_each_error_class_has_a_section(raised: list[type[BaseException]]) -> None:
    [base] = FxtrioError.__bases__
    assert base in LoaderError.__bases__
    classes = {
        one.__name__
        for one in raised
        if issubclass(one, base) and one is not base and not one.__name__.startswith("_")
    }
    text = (DOCS / "reference/errors.md").read_text("utf-8")
    sections = re.findall(r"^### (\w+)$", text, flags=re.MULTILINE)

    assert len(sections) == len(set(sections))
    assert set(sections) == classes - INTERNAL
