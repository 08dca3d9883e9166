"""The documentation of this version, which comes with the package: its pages, and search in them.

Called by `fx docs`, and by the tools for agents.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import attrs

_SHIPPED = Path(__file__).parents[2] / "docs"
_OF_REPOSITORY = Path(__file__).parents[3] / "docs"

_KINDS = ("", "guides", "reference", "reasons")
"""Folders, in the order in which pages of the same name are meant."""

ERRORS = "reference/errors"
"""The page that has a section for each error class."""

_MOST_LINES = 3
"""Lines of one page that a search shows (count)."""


@attrs.frozen
class Topic:
    """A page of the documentation."""

    name: str
    """Its path without the ending: ``guides/actions``."""

    title: str
    text: str


def docs_folder() -> Path:
    """Return the folder of the pages: in the package, or in the repository that it runs from."""
    return _SHIPPED if _SHIPPED.is_dir() else _OF_REPOSITORY


def read_topics(folder: Path) -> list[Topic]:
    """Return all pages, the overview first."""
    topics = []
    for file in folder.rglob("*.md"):
        text = file.read_text("utf-8")
        title = text.partition("\n")[0].lstrip("# ").strip()
        name = file.relative_to(folder).with_suffix("").as_posix()
        topics.append(Topic(name=name, title=title, text=text))
    return sorted(topics, key=_order)


def find_named(topics: list[Topic], name: str) -> list[Topic]:
    """Return the pages that ``name`` is the name, the end of the name, or the title of."""
    meant = name.strip("/").removeprefix("docs/").removesuffix(".md").lower()
    file = meant.replace(" ", "-")
    exact = [topic for topic in topics if topic.name == file]
    return exact or [
        topic
        for topic in topics
        if topic.name.rpartition("/")[2] == file or topic.title.lower() == meant
    ]


def find_section(topics: list[Topic], error: str) -> str:
    """Return the section of an error class, with the name of its page; "" for other words."""
    for topic in topics:
        if topic.name == ERRORS:
            for section in topic.text.split("\n### ")[1:]:
                name, _, text = section.partition("\n")
                if name == error:
                    body = text.partition("\n## ")[0].strip()
                    return f"{name}\n\n{body}\n\nAll errors: fx docs errors\n"
    return ""


def _order(topic: Topic) -> tuple[bool, int, str]:
    kind = topic.name.rpartition("/")[0]
    place = _KINDS.index(kind) if kind in _KINDS else len(_KINDS)
    return topic.name != "index", place, topic.name


def search(topics: list[Topic], words: Sequence[str]) -> Iterator[tuple[Topic, str, str]]:
    """Yield lines that hold all of ``words``, some of each page: page, heading and line."""
    wanted = [word.lower() for word in words]
    for topic in topics:
        heading, count = topic.title, 0
        for line in topic.text.splitlines():
            if line.startswith("#"):
                heading = line.lstrip("# ")
            if count < _MOST_LINES and all(word in line.lower() for word in wanted):
                yield topic, heading, line.strip()
                count += 1


def whole_text(topics: Sequence[Topic]) -> str:
    """Return all pages as one text, in the form of ``llms-full.txt``: each below its name."""
    return "\n".join(f"<!-- {topic.name} -->\n\n{topic.text.strip()}\n" for topic in topics)
