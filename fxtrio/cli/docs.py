"""`fx docs`: the documentation of this version, which comes with the package."""

from __future__ import annotations

import difflib
from pathlib import Path

import attrs
import click

_SHIPPED = Path(__file__).parents[1] / "docs"
_OF_REPOSITORY = Path(__file__).parents[2] / "docs"

_KINDS = ("", "guides", "reference", "reasons")
"""Folders, in the order in which pages of the same name are meant."""

ERRORS = "reference/errors"
"""The page that has a section for each error class."""

_SHOWN = 3
"""Lines of one page that a search shows (count)."""


@attrs.frozen
class Topic:
    """A page of the documentation."""

    name: str
    """Its path without the ending: ``guides/actions``."""

    title: str
    text: str


@click.command
@click.argument("words", nargs=-1, metavar="[TOPIC]...")
@click.option("--path", is_flag=True, help="Print the folder of the files, to search them.")
def command(words: tuple[str, ...], path: bool) -> None:
    """Read the documentation of this version, without a network.

    Without TOPIC the pages are listed. With the name of one it is printed, as Markdown: 'fx docs
    actions'; with the name of an error class its section: 'fx docs LoaderError'. Other words are
    searched for in all pages.
    """
    folder = docs_folder()
    if path:
        click.echo(folder)
        return
    topics = read_topics(folder)
    if not words:
        width = max(len(topic.name) for topic in topics)
        for topic in topics:
            click.echo(f"{topic.name:<{width}}  {topic.title}")
        return
    section = find_section(topics, words[0]) if len(words) == 1 else ""
    if section:
        click.echo(section, nl=False)
        return
    named = find_named(topics, " ".join(words))
    if named:
        click.echo(named[0].text, nl=False)
        for other in named[1:]:
            click.echo(f"There is {other.name}, too: {other.title}.", err=True)
        return
    _print_found(topics, words)


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


def _print_found(topics: list[Topic], words: tuple[str, ...]) -> None:
    """Print the lines of all pages that hold all of ``words``, under their headings."""
    wanted = [word.lower() for word in words]
    found = False
    for topic in topics:
        heading, count = topic.title, 0
        for line in topic.text.splitlines():
            if line.startswith("#"):
                heading = line.lstrip("# ")
            if count < _SHOWN and all(word in line.lower() for word in wanted):
                click.echo(f"{topic.name} > {heading}: {line.strip()}")
                count, found = count + 1, True
    if found:
        return
    names = [topic.name.rpartition("/")[2] for topic in topics]
    near = difflib.get_close_matches(words[0], names, n=1)
    hint = f" Did you mean {near[0]!r}?" if near else " 'fx docs' lists the pages."
    raise click.UsageError(f"No page is called, or holds, {' '.join(words)!r}.{hint}")
