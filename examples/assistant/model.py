"""A model that runs anywhere: it makes up an answer, one word at a time."""

from collections.abc import AsyncIterator
from itertools import count

import trio

PAUSE = 0.05
"""Between two words (seconds)."""

TIMES = count()
OPENINGS = ("That is a good question.", "Let me think.", "There are several ways to see it.")
REST = (
    "This model does not know the answer, but it shows how an answer arrives: word by word, "
    "each stored before it is sent. For real answers, change model.py."
)


async def answer(question: str) -> AsyncIterator[str]:
    """Yield the words of an answer. Put the client of a real model here."""
    opening = OPENINGS[next(TIMES) % len(OPENINGS)]
    subject = question.strip(" ?!.") or "nothing"
    text = f"{opening} You asked: {subject}. {REST}"
    for word in text.split():
        await trio.sleep(PAUSE)
        yield word + " "
