"""The messages of all chats, in the database of the app."""

import attrs

from fx.db import db


@attrs.frozen
class Message:
    id: int
    question: bool
    text: str


async def messages(chat: str) -> list[Message]:
    """Return the messages of a chat, oldest first."""
    return await db.all(
        Message, "select id, question, text from messages where chat = $1 order by id", chat
    )


async def add(chat: str, text: str, *, question: bool) -> int:
    """Store a message, and return its id."""
    return await db.value(
        "insert into messages (chat, question, text) values ($1, $2, $3) returning id",
        chat,
        question,
        text,
    )


async def extend(message: int, text: str) -> None:
    """Add text to a stored message."""
    await db.execute("update messages set text = text || $1 where id = $2", text, message)


async def forget_answers(chat: str) -> str | None:
    """Delete the messages after the last question, and return it; None if there is none."""
    last = await db.value("select max(id) from messages where chat = $1 and question", chat)
    if last is None:
        return None
    await db.execute("delete from messages where chat = $1 and id > $2", chat, last)
    return await db.value("select text from messages where id = $1", last)
