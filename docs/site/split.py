"""Splits a long document of `docs/` into several pages of the site.

A page then loads fast on a slow connection, and a result of the search is near what was asked.
The first page keeps the URL of the document; others are below it, by their first heading.
"""

from __future__ import annotations

import gzip
import itertools
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import partial

import attrs

MOST = 1800
"""Most that the Markdown of a page has (bytes of gzip), so that its HTML stays below 5 kB."""

FENCE = re.compile(r"^(`{3,}|~{3,})[^\n]*\n.*?^\1$\n?", re.MULTILINE | re.DOTALL)
"""A block of code."""

_MARKUP = 1.35
"""How many bytes of HTML highlighted code has for one of other text, both compressed."""

_HEADING = re.compile(r"^(##|###) (.+)$", re.MULTILINE)
_BETWEEN = re.compile(r"\n\n(?=\S)|\n(?=- )")
_HTML = re.compile(r"^<(div|details)\b.*?^</\1>$\n?", re.MULTILINE | re.DOTALL)
_RULE = re.compile(r"^-{5,}\n", re.MULTILINE)
_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")


@attrs.frozen
class Page:
    """A part of a document."""

    slug: str
    """The end of its URL; "" for the first."""

    label: str
    """What it is about: its headings, or the first and the last of them."""

    text: str
    """Its Markdown, with the title of the document."""

    anchors: frozenset[str]
    """The ids of its headings."""


@attrs.frozen
class _Section:
    """A heading of the second or third level, and the text up to the next."""

    level: int
    heading: str
    text: str


def split(text: str, most: int = MOST) -> tuple[Page, ...]:
    """Return the pages of a document, which begins with its title; a short one has one page."""
    title, _, rest = text.partition("\n")
    sections = [part for section in _sections(rest) for part in _cut(section, most)]
    groups = [*_grouped(sections, most)]
    return tuple(
        _page(title, group, index, len(groups), _parent(groups[:index]))
        for index, group in enumerate(groups)
    )


def anchor(heading: str) -> str:
    """Return the id of a heading, as GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", _LINK.sub(r"\1", heading).lower()).replace(" ", "-")


def _sections(text: str) -> Iterator[_Section]:
    without_code = FENCE.sub(lambda found: " " * len(found[0]), text)
    found = [*_HEADING.finditer(without_code)]
    ends = [*(one.start() for one in found), len(text)]
    yield _Section(1, "", text[: ends[0]])
    for heading, end in zip(found, ends[1:], strict=True):
        yield _Section(len(heading[1]), heading[2], text[heading.start() : end])


def _cut(section: _Section, most: int) -> Iterator[_Section]:
    """Cut a section that is too long for a page, between its paragraphs and items."""
    text, number = "", 1
    for block in _blocks(FENCE.sub(partial(_cut_code, most=most), section.text)):
        if text and _size(text + block) > most:
            yield attrs.evolve(section, heading=_numbered(section.heading, number), text=text)
            number += 1
            text = f"{'#' * section.level} {_numbered(section.heading, number)}\n\n"
        text += block
    yield attrs.evolve(section, heading=_numbered(section.heading, number), text=text)


def _cut_code(block: re.Match[str], most: int) -> str:
    """Cut a block of code that is too long for a page at its horizontal rules."""
    if _size(block[0]) <= most:
        return block[0]
    opening = block[0].partition("\n")[0]
    return _RULE.sub(lambda rule: f"{block[1]}\n\n{opening}\n", block[0])


def _blocks(text: str) -> Iterator[str]:
    """Yield paragraphs, items of lists, and blocks of code or HTML."""
    whole = text
    for kind in (FENCE, _HTML):
        whole = kind.sub(lambda found: "x" * (len(found[0]) - 1) + "\n", whole)
    starts = [0, *(found.end() for found in _BETWEEN.finditer(whole)), len(text)]
    yield from (text[start:end] for start, end in itertools.pairwise(starts))


def _numbered(heading: str, number: int) -> str:
    return heading if number == 1 else f"{heading}, part {number}"


def _grouped(sections: Sequence[_Section], most: int) -> Iterator[list[_Section]]:
    """Fill one page after another, with about as much on each."""
    whole = _size(_text(sections))
    pages = math.ceil(whole / most)
    wanted = min(most, 1.15 * whole / pages)
    group: list[_Section] = []
    for section in sections:
        if group and group[-1].heading and _size(_text([*group, section])) > wanted:
            yield group
            group = []
        group.append(section)
    yield group


def _text(sections: Iterable[_Section]) -> str:
    return "".join(section.text for section in sections)


def _size(text: str) -> float:
    """Return what Markdown weighs: more for code, which is highlighted."""
    code = "".join(found[0] for found in FENCE.finditer(text))
    return _zipped(text) + (_MARKUP - 1) * _zipped(code)


def _zipped(text: str) -> int:
    return len(gzip.compress(text.encode(), 9))


def _parent(before: Iterable[list[_Section]]) -> str:
    """Return the heading of the second level that is the last before a page."""
    headings = [one.heading for group in before for one in group if one.level == 2]
    return headings[-1] if headings else ""


def _page(title: str, group: list[_Section], index: int, count: int, parent: str) -> Page:
    first = group[0]
    body = _text(group)
    if index:
        continued = f"## {parent}, continued\n\n" if first.level == 3 else ""
        body = f"{title}, {index + 1} of {count}\n\n{continued}{body}"
    else:
        body = f"{title}\n{body}"
    slug = anchor(first.heading) if index else ""
    anchors = frozenset(anchor(section.heading) for section in group if section.heading)
    return Page(slug, _label(group), body, anchors)


def _label(group: list[_Section]) -> str:
    level = group[0].level if group[0].heading else 2
    chosen = [one.heading for one in group if one.heading and one.level <= level]
    plain = [_LINK.sub(r"\1", heading).replace("`", "") for heading in chosen]
    if not plain:
        return "Introduction"
    return ", ".join(plain) if len(plain) < 4 else f"{plain[0]} to {plain[-1]}"
