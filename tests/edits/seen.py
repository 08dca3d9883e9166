"""What a page, a document and a payload show, in a form in which they can be compared."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import attrs
import httpx
from playwright.sync_api import Page
from playwright.sync_api import TimeoutError as TooLate

PATIENCE_MS = 20_000
"""Longest wait for a page to show what it must (ms): the machine may be busy."""

TEXTS = """() => [document.title, ...[...document.querySelectorAll('#fx-root b')].map(
  (one) => one.textContent + '|' + getComputedStyle(one).color)]"""
_EQUALS = f"(expected) => JSON.stringify(({TEXTS})()) === JSON.stringify(expected)"
_OVERLAY = "document.querySelector('fx-overlay')"
_BADGE = "document.querySelector('fx-badge')"
READY = "performance.getEntriesByName('fx:ready').length > 0"

# What is another one in each answer, or in each place that a project is copied to. The numbers of
# views are, too: those that were there keep theirs while pages come. Documents name what pages
# import, as soon as a browser has asked for these.
_PASSING = re.compile(
    r'<link rel="modulepreload" href="/_fx/(?:looks|pages|parts)/[^"]+\.(?:jsx|css)(?:\?t=\d+)?">|'
    r'[?&]t=\d+|"nonce":"[^"]*"|nonce="[^"]*"|"pid":\d+|[0-9a-f]{32}|(?<=\.tsx",)"id":\d+'
)


@attrs.define(eq=False)
class Wrong(Exception):
    """Somebody sees something else."""

    what: str

    def __str__(self) -> str:
        """Say what was seen."""
        return self.what


def wait_for_texts(page: Page, expected: list[str], who: str) -> None:
    """Wait until a page shows ``expected`` and nothing over it. Raises Wrong."""
    try:
        page.wait_for_function(_EQUALS, arg=expected, timeout=PATIENCE_MS)
        page.wait_for_function(f"{_OVERLAY} === null", timeout=PATIENCE_MS)
    except TooLate:
        problem = page.evaluate(f"{_OVERLAY}?.shadowRoot.querySelector('div').innerText")
        seen = page.evaluate(TEXTS)
        over = f"\nwith an overlay: {problem}" if problem else ""
        text = "" if seen[1:] else page.inner_text("body")[:2000]
        raise Wrong(f"{who} shows\n  {seen}{text}\nand not\n  {expected}{over}") from None


def wait_overlay(page: Page, who: str) -> None:
    """Wait until a page says that something is wrong. Raises Wrong."""
    try:
        page.wait_for_function(f"{_OVERLAY} !== null", timeout=PATIENCE_MS)
    except TooLate:
        raise Wrong(f"{who} shows no overlay, but {page.evaluate(TEXTS)}") from None


def wait_badge(page: Page, who: str) -> None:
    """Wait until a page counts in its corner what is wrong elsewhere. Raises Wrong."""
    try:
        page.wait_for_function(f"{_BADGE} !== null", timeout=PATIENCE_MS)
    except TooLate:
        over = page.evaluate(f"{_OVERLAY}?.shadowRoot.querySelector('div').innerText")
        raise Wrong(f"{who} counts no problem, and over it is: {over}") from None


def documents(url: str, root: Path, paths: list[str]) -> dict[str, Any]:
    """Return what a server answers at each path: the document, and the navigation payload."""
    found: dict[str, Any] = {}
    with httpx.Client(base_url=url, timeout=60) as client:
        for path in paths:
            document = client.get(path)
            payload = client.get(path, headers={"x-fx-navigation": "1"})
            found[path] = {
                "status": document.status_code,
                "document": _lasting(document.text, root),
                "payload status": payload.status_code,
                "payload": _lasting(payload.text, root),
            }
    return found


def differences(ours: dict[str, Any], theirs: dict[str, Any]) -> list[str]:
    """Return where the answers of two servers differ, with the texts around it."""
    found = []
    for path, answer in ours.items():
        for key, value in answer.items():
            other = theirs[path][key]
            if value != other:
                found.append(f"{path}: {key} {_first_difference(str(value), str(other))}")
    return found


def _first_difference(one: str, other: str) -> str:
    length = min(len(one), len(other))
    at = next((index for index in range(length) if one[index] != other[index]), length)
    start = max(0, at - 120)
    ours, theirs = one[start : at + 200], other[start : at + 200]
    return f"\n    {ours!r}\n    of a restarted server is\n    {theirs!r}"


def _lasting(text: str, root: Path) -> str:
    return _PASSING.sub("", text).replace(str(root), "")
