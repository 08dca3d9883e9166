"""Pieces of a text that are replaced, by their offsets. Pure."""

from __future__ import annotations

import ast
from collections.abc import Iterable

import attrs

from fxtrio.compile.source import SourceText


@attrs.frozen(order=True)
class Edit:
    """``text`` replaces the characters from ``start`` to ``end`` (offsets)."""

    start: int
    end: int
    text: str


def apply_edits(text: str, edits: Iterable[Edit]) -> str:
    """Return ``text`` with all ``edits``, which do not overlap."""
    parts = []
    end = 0
    for edit in sorted(set(edits)):
        if edit.start < end:
            raise ValueError(f"two edits overlap at {edit.start}: {edit.text!r}")
        parts += [text[end : edit.start], edit.text]
        end = edit.end
    return "".join([*parts, text[end:]])


def moved(offset: int, edits: Iterable[Edit]) -> int:
    """Return where ``offset`` is after ``edits``."""
    before = [edit for edit in set(edits) if edit.end <= offset]
    return offset + sum(len(edit.text) - (edit.end - edit.start) for edit in before)


def extent(source: SourceText, node: ast.AST) -> tuple[int, int]:
    """Return the offsets at which a node of ``source`` begins and ends."""
    assert isinstance(node, ast.expr | ast.stmt | ast.alias)
    assert node.end_lineno is not None and node.end_col_offset is not None
    return (
        source.offset_of(node.lineno, node.col_offset),
        source.offset_of(node.end_lineno, node.end_col_offset),
    )


def replaced(source: SourceText, node: ast.AST, text: str) -> Edit:
    """Return the edit that puts ``text`` in the place of a node."""
    return Edit(*extent(source, node), text)
