"""Targets: paths in every disguise, and queries."""

from __future__ import annotations

import random

from ..cases import Case, Message, as_user
from ..mutate import grow, mutate
from ..seeds import GUARDED_PAGES, HEADERS, KEYS, NUMBERS, PAGES, TEXTS

_FORMS = (b"/api/echo", b"/search", b"/", b"/about", b"/docs")
_TOKENS = (
    *(bytes(text[:300]) for text in TEXTS), *NUMBERS[:12], *PAGES, *GUARDED_PAGES,
    b"%zz", b"%", b"%00", b"%2f", b"%2F", b"%5c", b"%252f", b"%c0%af", b"%ed%a0%80", b"%ff", b"//",
    b"/./", b"/../", b"/..;/", b";a=b", b".md", b".md/", b".md.md", b"%2emd", b".MD", b"?", b"&",
    b"=", b"+", b"#", b"index", b"http://a", b"http://evil/", b"*", b"a:80", b"\\", b"%u0041",
    b"&next=//evil", b"&next=/%09/evil", b"&missing=1", b"/_fx/", b"/__fx/",
)  # fmt: skip


def make(dice: random.Random) -> Case:
    """Return a GET or HEAD of a target that was tampered with."""
    target = dice.choice((_page, _query, _query))(dice)
    target = bytes(byte for byte in target if byte not in b" \r\n")
    method = dice.choice((b"GET", b"GET", b"GET", b"HEAD"))
    message = Message(target, method, as_user(dice)).with_headers(
        *dice.sample(HEADERS, dice.choice([0, 0, 1, 2]))
    )
    return Case("query", (message.to_bytes(),))


def _page(dice: random.Random) -> bytes:
    page = dice.choice(PAGES + GUARDED_PAGES)
    page += dice.choice((b"", b"", b".md", b"/", b"//", b"/.", b"%2f", b"/index", b";x", b"?"))
    if dice.random() < 0.2:
        page = b"".join(b"%%%02x" % byte if dice.random() < 0.3 else bytes([byte]) for byte in page)
    if dice.random() < 0.1:
        page = b"http://a" + page
    return b"/" + mutate(page, dice, _TOKENS)[:7000].lstrip(b"/") if dice.random() < 0.9 else page


def _query(dice: random.Random) -> bytes:
    names = (*KEYS, b"q", b"q", b"next", b"missing", b"error", b"a", b"%61")
    pairs = [
        dice.choice(names) + dice.choice((b"=", b"=", b"", b"==")) + dice.choice(_TOKENS)
        for _ in range(dice.randint(1, 5))
    ]
    query = mutate(b"&".join(pairs), dice, _TOKENS)
    if dice.random() < 0.3:
        query = grow(query, dice)
    return dice.choice(_FORMS) + b"?" + query[: dice.choice((1000, 7900, 9000))]
