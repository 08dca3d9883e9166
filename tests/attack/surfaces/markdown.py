"""Pages as Markdown: text that is nothing but marks, in a query or stored by a visitor."""

from __future__ import annotations

import json
import random

from ..cases import Case, Message
from ..mutate import repeat

_PAGES = (b"/about.md", b"/index.md", b"/search.md", b"/docs/a.md", b"/about", b"/")
_MARKS = (
    b"*", b"_", b"**", b"*a", b"_a_ ", b"a \\- b ", b"\\", b"\\*", b"`", b"``a", b"~", b"[", b"](",
    b"![", b"](<", b"[a](b", b"<", b"<a ", b"<meta ", b"<!--", b"</", b"&", b"&a", b"&#", b"> ",
    b"- ", b"1. ", b"1)", b"#", b"# ", b"|", b"a|b", b"=",
    b"---", b"^", b"\n", b"\n\n", b"\t", b"  \n",
)  # fmt: skip


def make(dice: random.Random) -> Case:
    """Return a request for a page as Markdown, or an entry of the guestbook and then that page."""
    marks = b"".join(dice.choice(_MARKS) for _ in range(dice.choice((1, 1, 1, 2, 3))))
    if dice.random() < 0.3:
        entry = {"name": "Ada", "message": repeat(marks, dice.choice((1000, 4800))).decode()}
        headers = ((b"Content-Type", b"application/json"),)
        body = json.dumps(entry).encode()
        sign = Message(b"/api/__actions/index/sign", b"POST", headers, body)
        return Case("markdown", (sign.to_bytes() + _request(b"/index.md").to_bytes(),))
    escaped = b"".join(
        b"%%%02x" % byte if byte in b' \n\t#<>"' else bytes([byte]) for byte in marks
    )
    size = dice.choice((500, 4000, 7500))
    path = dice.choice(_PAGES) + b"?q=" + repeat(escaped, size)
    return Case("markdown", (_request(path).to_bytes(),))


def _request(path: bytes) -> Message:
    return Message(path, headers=((b"Accept", b"text/markdown"),))
