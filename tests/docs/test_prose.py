"""Links lead somewhere, and every sentence has a line of its own."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.docs.pages import DOCS, ROOT, anchors, documents, name

LINKING = [*documents(), ROOT / "CHANGELOG.md", *sorted(ROOT.glob("examples/*/README.md"))]
CHANGELOG = ROOT / "CHANGELOG.md"
_LINK = re.compile(r"\]\(([^)#\s]+)(#[^)]*)?\)")
_LINK_TO_HEADING = re.compile(r"\]\(([^)#\s]*)(#[^)]+)\)")
_TWO_SENTENCES = re.compile(r"[a-z)`][.?!] +[A-Z]")
_ABBREVIATIONS = re.compile(r"\b(e\.g|i\.e|etc)\.")


def own_text(document: Path) -> str:
    """Return a page without its examples of Markdown, whose links are those of another site."""
    text = document.read_text(encoding="utf-8")
    return re.sub(r"^```md .*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("document", LINKING, ids=name)
def test_links_to_other_pages_lead_there(document: Path) -> None:
    targets = [target for target, _ in _LINK.findall(own_text(document)) if "://" not in target]

    assert [target for target in targets if not (document.parent / target).exists()] == []


@pytest.mark.parametrize("document", LINKING, ids=name)
def test_links_to_headings_lead_there(document: Path) -> None:
    broken = [
        target + anchor
        for target, anchor in _LINK_TO_HEADING.findall(own_text(document))
        if "://" not in target
        and anchor[1:] not in anchors(document.parent / target if target else document)
    ]

    assert broken == []


@pytest.mark.parametrize("document", documents(), ids=name)
def test_a_line_holds_one_sentence(document: Path) -> None:
    prose = re.sub(r"^```.*?^```$", "", document.read_text("utf-8"), flags=re.M | re.S)
    lines = [
        line
        for line in prose.splitlines()
        if not line.startswith(("|", "- ")) and _TWO_SENTENCES.search(_ABBREVIATIONS.sub("", line))
    ]

    assert lines == []


def test_every_page_can_be_reached_from_the_index() -> None:
    found: set[Path] = set()
    todo = [DOCS / "index.md"]
    while todo:
        page = todo.pop()
        if page not in found and page.suffix == ".md":
            found.add(page)
            text = own_text(page)
            todo += [
                (page.parent / target).resolve()
                for target, _ in _LINK.findall(text)
                if "://" not in target
            ]

    assert sorted(name(page) for page in DOCS.rglob("*.md") if page not in found) == []


@pytest.mark.parametrize("guide", sorted(DOCS.glob("guides/*.md")), ids=name)
def test_a_guide_ends_with_what_to_read_next(guide: Path) -> None:
    last = guide.read_text("utf-8").rstrip().splitlines()[-1]
    assert last.startswith("Next: ")
    assert _LINK.search(last) or _LINK_TO_HEADING.search(last)


def test_the_first_release_is_a_page_of_what_fxtrio_is() -> None:
    """A merge that keeps the lines of both sides may bring back a list of changes."""
    text = CHANGELOG.read_text(encoding="utf-8")
    page = re.split(r"^## ", text, flags=re.MULTILINE)[-1].splitlines()
    headings = [line for line in page if line.startswith("### ")]

    assert page[0].startswith("0.1.0")
    assert len(page) <= 80
    assert len(headings) == len(set(headings))
    assert {"### Added", "### Fixed", "### Changed"}.isdisjoint(headings)
