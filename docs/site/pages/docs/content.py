"""The front matter of all pages."""

from dataclasses import dataclass


@dataclass
class FrontMatter:
    """What `docs/site/build.py` writes in front of each page."""

    title: str
    description: str
    source: str
    """The file to edit, from the top of the repository."""
