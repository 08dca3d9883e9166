"""The front matter of all pages."""

from dataclasses import dataclass


@dataclass
class Part:
    """A page of a document that has several."""

    title: str
    url: str


@dataclass
class FrontMatter:
    """What `docs/site/build.py` writes in front of each page."""

    title: str
    description: str
    source: str
    """The file to edit, from the top of the repository."""

    parts: list[Part]
    """All pages of the document, where it has several."""
