"""docs/reference/errors.md has a section for each error class that a user can meet."""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Iterator

import fxtrio
from fxtrio.errors import FxtrioError, LoaderError
from fxtrio.testing.socket import SocketClosed, SocketRejected
from tests.docs.pages import DOCS

INTERNAL = {
    # The base of PictureInvalid and FontInvalid, which have theirs.
    "AssetInvalid",
    "PlacedError",  # a base of many
    # Between the parts of a command; none leaves it.
    "ConnectionLost",
    "FrameInvalid",
    "NotImported",
    "OrderVoid",
    "TrialCrashed",
    "TypesUnknown",
}
APART = {"starter", "__main__"}
"""Modules that are not imported: files for projects, and commands."""


def subclasses(base: type[Exception]) -> Iterator[type[Exception]]:
    for one in base.__subclasses__():
        yield one
        yield from subclasses(one)


def test_each_error_class_has_a_section() -> None:
    for module in pkgutil.walk_packages(fxtrio.__path__, "fxtrio."):
        if APART.isdisjoint(module.name.split(".")):
            importlib.import_module(module.name)
    [base] = FxtrioError.__bases__
    assert base in LoaderError.__bases__
    classes = {
        one.__name__
        for one in {*subclasses(base), SocketClosed, SocketRejected}
        if one.__module__.startswith("fxtrio.") and not one.__name__.startswith("_")
    }
    text = (DOCS / "reference/errors.md").read_text("utf-8")
    sections = re.findall(r"^### (\w+)$", text, flags=re.MULTILINE)

    assert len(sections) == len(set(sections))
    assert set(sections) == classes - INTERNAL
