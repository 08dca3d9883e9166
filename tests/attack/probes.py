"""What must hold at any time: what is guarded is closed, pages answer, rooms and logins work."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator

import trio

from ..http1.frames import CLOSE, TEXT, frame
from .cases import Message
from .findings import Finding
from .target import Target

PAGES = {
    b"/": b"Guestbook",
    b"/about": b"About this app",
    b"/search?q=needle": b"needle",
    b"/typed": b"Typed",
    b"/upload": b"Upload",
    b"/login": b"Sign in",
    b"/docs": b"Docs",
    b"/docs/a/b": b"a/b",
    b"/docs/a.md": b"# Docs",
    b"/about.md": b"About this app",
    b"/rooms/x": b"Room",
    b"/llms.txt": b"about.md",
    b"/api/echo?q=needle": b"needle",
    b"/api/__csrf": b"token",
    b"/pay": b"Pay",
    b"/openapi.json": b"openapi",
}
"""Pages that everybody may see, and something that each of them says."""

_NAVIGATED = (b"/", b"/about", b"/typed", b"/docs/a")

_GUARDED = (
    b"/vault", b"/somebody", b"/register", b"/notes/a", b"/notes/a/b", b"/vault/", b"//vault",
    b"/./vault", b"/about/../vault", b"/%76ault", b"/vault%2f", b"/vault%2fa",
    b"/somebody?x=/about", b"/vault.md", b"/register.md",
    b"/vault.md/", b"/vault%2emd", b"/login.md.md", b"/notes/a.md",
    b"/notes/login", b"/notes/login.md", b"/api/secret", b"/api/secret?next=/about", b"/vault;a=b",
    b"/about%2f..%2fvault", b"/login%2f", b"/%6cogin.md.md", b"http://a/vault", b"http://a/register",
    b"/search%2f", b"/vault?a=.md", b"/vault#.md", b"/About", b"/LOGIN", b"/login%00", b"/about%20",
    b"/api/feed", b"/api/%66eed",
)  # fmt: skip

_GUARDED_ACTIONS = (
    b"vault", b"somebody", b"register", b"notes/a", b"login.md", b"register.md", b"about.md",
    b"%6cogin.md", b"login%2emd", b"vault.md", b"index.md", b"rooms.md", b"typed.md", b"docs.md",
    b"login%2f", b"%2flogin", b"login/", b"/login", b"search.md", b"api.md",
)  # fmt: skip
"""Pages whose action ``invite`` nobody may call; what is no page is not found."""

_GUARDED_SOCKETS = (
    b"/vault", b"/somebody", b"/register", b"/notes/a", b"/login.md", b"/register.md", b"/about.md",
    b"/vault.md", b"/vault/", b"//vault", b"/%76ault", b"/login%2emd", b"/search.md", b"/docs.md",
    b"/api/feed", b"/api/%66eed", b"//api/feed", b"/api/feed/",
)  # fmt: skip

_MULTIPART = b'--x\r\nContent-Disposition: form-data; name="a"\r\n\r\nb\r\n--x--'
_BODIES = {
    b"application/json": b"{}",
    b"application/x-www-form-urlencoded": b"a=b",
    b"multipart/form-data; boundary=x": _MULTIPART,
}

OPEN_ORDER = {"name": "Ada", "price": "1.5", "lines": [{"article": "x", "price": 2}]}


def _rejected() -> Iterator[Message]:
    for path in _GUARDED:
        yield Message(path)
        yield Message(path, b"HEAD")
        yield Message(path, headers=((b"x-fx-navigation", b"1"),))
        yield Message(path, headers=((b"Accept", b"text/markdown"),))
    for page in _GUARDED_ACTIONS:
        for kind, body in _BODIES.items():
            target = b"/api/__actions/%b/invite" % page
            yield Message(
                target, b"POST", ((b"Content-Type", kind), (b"Accept", b"text/html")), body
            )
    yield Message(b"/api/secret", b"POST", body=b"")


async def check_guards(target: Target) -> AsyncIterator[Finding]:
    """Ask for everything that is guarded, in every form, as nobody."""
    for message in _rejected():
        reply = await target.ask(message)
        if target.canary in reply.body or target.canary in repr(reply.headers).encode():
            yield Finding("guard", f"{_described(message)} shows what only users may see")
        elif reply.status < 300 and not _sends_away(reply.body):
            yield Finding("guard", f"{_described(message)} is answered with {reply.status}")
    for path in _GUARDED_SOCKETS:
        socket, reply = await target.open_websocket(path)
        async with socket:
            if reply.status == 101 and (await socket.frame()).opcode != CLOSE:
                yield Finding("guard", f"the WebSocket of {path.decode()} is open to nobody")


_ELSEWHERE = (
    (b"Sec-Fetch-Site", b"cross-site"),
    (b"Sec-Fetch-Site", b"same-site"),
    (b"Origin", b"http://evil"),
    (b"Origin", b"null"),
    (b"Origin", b"http://a@evil"),
    (b"Origin", b"http://evil/a"),
    (b"Origin", b"http://a.evil"),
    (b"X-No-Proof", b"at all"),
)


async def check_origins(target: Target) -> AsyncIterator[Finding]:
    """Ask for changes as other sites would, with the cookie of a user."""
    cookie = (b"Cookie", b"sid=" + target.session)
    for action in (b"index/sign", b"vault/invite"):
        for kind, body in _BODIES.items():
            for proof in _ELSEWHERE:
                headers = ((b"Content-Type", kind), cookie, proof)
                where = b"/api/__actions/" + action
                reply = await target.ask(Message(where, b"POST", headers, body, own=False))
                if reply.status != 403:
                    described = f"{where.decode()} with {b': '.join(proof).decode()}"
                    yield Finding("guard", f"{described} is answered with {reply.status}")


def _sends_away(body: bytes) -> bool:
    """Whether it is the payload of a navigation that leads to the login."""
    try:
        return b"/login" in json.loads(body)["redirect"].encode()
    except (ValueError, KeyError, TypeError):
        return False


def _described(message: Message) -> str:
    kinds = [value.decode() for _, value in message.headers]
    return " ".join([message.method.decode(), message.target.decode(), *kinds])


async def check_pages(target: Target) -> AsyncIterator[Finding]:
    """Look at every page that is open to everybody."""
    for path, text in PAGES.items():
        reply = await target.ask(Message(path))
        if reply.status != 200 or text not in reply.body:
            yield Finding("page", f"{path.decode()} no longer answers", f"{reply!r:.500}")
        is_html = (reply.get(b"content-type") or b"").startswith(b"text/html")
        if is_html and b"<script>forged" in reply.body:
            yield Finding("breach", f"{path.decode()} has a script of a visitor's making")
    for path in _NAVIGATED:
        reply = await target.ask(Message(path, headers=((b"x-fx-navigation", b"1"),)))
        if reply.status != 200 or not json.loads(reply.body)["ok"]:
            yield Finding("page", f"{path.decode()} cannot be navigated to", f"{reply!r:.500}")
    reply = await target.ask(Message(b"/nowhere/at/all"))
    if reply.status != 404:
        yield Finding("page", "an unknown page is not a 404", f"{reply!r:.500}")


async def check_work(target: Target) -> AsyncIterator[Finding]:
    """Do what visitors do: call an action, talk in rooms, sign in, and see what users see."""
    kind = ((b"Content-Type", b"application/json"),)
    order = Message(b"/api/__actions/typed/order", b"POST", kind, json.dumps(OPEN_ORDER).encode())
    reply = await target.ask(order)
    if reply.status != 200 or json.loads(reply.body)["ok"] is not True:
        yield Finding("page", "an action no longer works", f"{reply!r:.500}")
    if not await talks(target, b"/rooms/probe"):
        yield Finding("page", "a room no longer works")
    reply = await target.log_in()
    if reply.status != 200:
        yield Finding("page", "nobody can sign in", f"{reply!r:.500}")
        return
    cookie = (b"Cookie", b"sid=" + target.session)
    for path in (b"/vault", b"/somebody", b"/notes/a/b", b"/api/secret", b"/vault.md"):
        reply = await target.ask(Message(path, headers=(cookie,)))
        if reply.status != 200 or target.canary not in reply.body:
            yield Finding("page", f"{path.decode()} does not answer users", f"{reply!r:.500}")
    if not await talks(target, b"/vault", b"Cookie: sid=" + target.session):
        yield Finding("page", "a room of users no longer works")
    await target.ask(Message(b"/api/__auth/logout", b"POST", (cookie,), b""))
    reply = await target.ask(Message(b"/vault", headers=(cookie,)))
    if reply.status != 303:
        yield Finding("guard", "a session lives on after its end", f"{reply!r:.500}")
    await target.log_in()


async def talks(target: Target, path: bytes, *fields: bytes) -> bool:
    """Whether what is said in a room comes back."""
    socket, reply = await target.open_websocket(path, *fields)
    async with socket:
        if reply.status != 101:
            return False
        await socket.send(frame(TEXT, b"needle"))
        with trio.move_on_after(5):
            while True:
                received = await socket.frame()
                if received.opcode == CLOSE:
                    return False
                if received.payload == b"needle":
                    return True
    return False
