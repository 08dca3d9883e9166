"""Notes with their word counts. Counting takes a while, so an in-memory job does it."""

from itertools import count

import attrs
import trio

NUMBERS = count(1)
NOTES: dict[int, "Note"] = {}
COUNTING_SECONDS = 0.3


@attrs.define
class Note:
    """A note; ``words`` is None until the words have been counted."""

    id: int
    title: str
    text: str
    words: int | None = None


def add(title: str, text: str) -> Note:
    """Store a note."""
    note = Note(next(NUMBERS), title, text)
    NOTES[note.id] = note
    return note


async def count_words(note: Note) -> None:
    """Count the words of a note, as slowly as a real job would."""
    await trio.sleep(COUNTING_SECONDS)
    note.words = len(note.text.split())


add("Welcome", "Each note has its own page. Agents read it as Markdown.").words = 11
