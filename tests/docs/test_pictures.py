"""The pictures of the documentation are what draws them, and say in words what they show."""

from __future__ import annotations

import re
from xml.etree import ElementTree as xml

import pytest

from tests.docs.draw.pictures import PICTURES
from tests.docs.pages import DOCS, documents

FOLDER = DOCS / "pictures"
SVG = "{http://www.w3.org/2000/svg}"


def test_each_file_is_drawn() -> None:
    """`nox -s pictures` writes them."""
    assert {file.stem for file in FOLDER.iterdir()} == set(PICTURES)
    changed = [
        name
        for name, draw in PICTURES.items()
        if (FOLDER / f"{name}.svg").read_text("utf-8") != draw().svg()
    ]

    assert changed == []


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_says_what_it_shows_in_both_schemes(name: str) -> None:
    text = (FOLDER / f"{name}.svg").read_text("utf-8")
    root = xml.fromstring(text)

    assert root.get("role") == "img"
    named = {one.get("id") for one in root if one.tag in (f"{SVG}title", f"{SVG}desc") and one.text}
    assert set((root.get("aria-labelledby") or "").split()) == named
    assert len(named) == 2
    assert "prefers-color-scheme: dark" in text


def test_each_picture_has_an_alternative_text() -> None:
    alternatives = {
        found[2]: found[1]
        for page in documents()
        for found in re.finditer(r"!\[([^\]]*)\]\([^)]*pictures/([\w-]+)\.svg\)", page.read_text())
    }

    assert set(alternatives) == set(PICTURES)
    assert all(len(alt) > 20 for alt in alternatives.values())
