"""`fx docs`: the documentation of this version, which comes with the package."""

from __future__ import annotations

import difflib

import click

from fxtrio.tools.documentation.topics import (
    Topic,
    docs_folder,
    find_named,
    find_section,
    read_topics,
    search,
    whole_text,
)


@click.command
@click.argument("words", nargs=-1, metavar="[TOPIC]...")
@click.option("--path", is_flag=True, help="Print the folder of the files, to search them.")
@click.option("--all", "whole", is_flag=True, help="Print all pages as one text: llms-full.txt.")
def command(words: tuple[str, ...], path: bool, whole: bool) -> None:
    """Read the documentation of this version, offline.

    Without TOPIC it lists the pages. 'fx docs actions' prints a page as Markdown, 'fx docs
    LoaderError' prints the section of an error class, and any other words search all pages.
    """
    folder = docs_folder()
    if path:
        click.echo(folder)
        return
    topics = read_topics(folder)
    if whole:
        click.echo(whole_text(topics), nl=False)
        return
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


def _print_found(topics: list[Topic], words: tuple[str, ...]) -> None:
    """Print the lines of all pages that hold all of ``words``, under their headings."""
    found = False
    for topic, heading, line in search(topics, words):
        click.echo(f"{topic.name} > {heading}: {line}")
        found = True
    if found:
        return
    names = [topic.name.rpartition("/")[2] for topic in topics]
    near = difflib.get_close_matches(words[0], names, n=1)
    hint = f" Did you mean {near[0]!r}?" if near else " 'fx docs' lists the pages."
    raise click.UsageError(f"No page is named, or contains, {' '.join(words)!r}.{hint}")
