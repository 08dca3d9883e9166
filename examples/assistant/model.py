"""A model that runs anywhere: it makes up an answer, one word at a time."""

from collections.abc import AsyncIterator
from itertools import count

import trio

PAUSE = 0.05
"""Between two words (seconds)."""

TIMES = count()
OPENINGS = ("That is a good question.", "Let me think.", "There are several ways to see it.")


async def answer(question: str) -> AsyncIterator[str]:
    """Yield the words of an answer. Put the client of a real model here."""
    opening = OPENINGS[next(TIMES) % len(OPENINGS)]
    subject = question.strip(" ?!.") or "nothing"
    text = f"{opening} You asked: {subject}. " + "I would begin with the simplest case. " * 4
    for word in text.split():
        await trio.sleep(PAUSE)
        yield word + " "
