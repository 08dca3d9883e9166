"""What must hold besides: payloads, documents, channels, coupons, and secrets in the log."""

from __future__ import annotations

import json
import secrets
from collections.abc import AsyncIterator

import trio

from fxtrio.serve.request.client_protocol import PAYLOAD

from .cases import Message
from .findings import Finding
from .probes import talks
from .target import Target

_FORGED = (
    PAYLOAD,
    PAYLOAD.upper(),
    PAYLOAD + b";charset=utf-8",
    PAYLOAD + b" ; a=b",
    b"text/html, " + PAYLOAD,
    b"application/json",
)


async def check_payloads(target: Target) -> AsyncIterator[Finding]:
    """Ask an endpoint for what visitors have stored, as the client router does."""
    for kind in _FORGED:
        escaped = b"".join(b"%%%02x" % byte for byte in kind)
        where = Message(b"/api/stored?type=" + escaped, headers=((b"x-fx-navigation", b"1"),))
        reply = await target.ask(where)
        names = {name.lower() for name, _ in reply.headers}
        if PAYLOAD in (reply.get(b"content-type") or b"").lower() or b"x-fx-build" in names:
            yield Finding("breach", f"JSON of visitors passes for a page, as {kind.decode()}")


_RESTRICTED = ("/api/feed", "/api/__actions/vault/invite", "/api/__actions/{team}/invite")


async def check_documents(target: Target) -> AsyncIterator[Finding]:
    """Read the OpenAPI document as nobody, and as a user."""
    cookie = (b"Cookie", b"sid=" + target.session)
    for headers, opened in (((), False), ((cookie,), True), ((), False)):
        reply = await target.ask(Message(b"/openapi.json", headers=headers))
        paths = json.loads(reply.body)["paths"]
        for path in _RESTRICTED:
            if (path in paths) is not opened:
                what = "is missing for users" if opened else "is shown to nobody in particular"
                yield Finding("guard", f"{path} {what} in the OpenAPI document")


_INTERNAL = (b"%00processes", b"%00", b"%00fx", b"%00cache", b"%00%00processes")


async def check_channels(target: Target) -> AsyncIterator[Finding]:
    """Join rooms with names that are the framework's own."""
    for name in _INTERNAL:
        if await talks(target, b"/rooms/" + name):
            yield Finding("breach", f"a visitor has joined the channel {name.decode()}")


async def check_money(target: Target) -> AsyncIterator[Finding]:
    """Spend one coupon several times at once."""
    code = secrets.token_hex(8)
    paid: list[bool] = []

    async def spend(number: int) -> None:
        body = json.dumps({"code": code, "number": f"{code}-{number}"}).encode()
        headers = ((b"Content-Type", b"application/json"),)
        reply = await target.ask(Message(b"/api/__actions/pay/spend", b"POST", headers, body))
        if reply.status == 200:
            paid.append(json.loads(reply.body)["ok"])

    async with trio.open_nursery() as nursery:
        for number in range(8):
            nursery.start_soon(spend, number)
    if len(paid) != 1:
        yield Finding("race", "a coupon has not paid once", f"{len(paid)} times")


_SECRET = (
    b"token", b"accessToken", b"user[token]", b"user%5Btoken%5D", b"API-Key", b"%74oken",
    b"tokens[]", b"sessionId", b"a=b;code", b"to=%2Fa%3Ftoken",
)  # fmt: skip


async def check_secrets(target: Target) -> AsyncIterator[Finding]:
    """Follow links that hold secrets, and look for these in the access log."""
    secret, mark = secrets.token_hex(8).encode(), secrets.token_hex(8).encode()
    for name in _SECRET:
        sign = b"%3D" if name.startswith(b"to=") else b"="
        query = name + sign + secret
        await target.ask(Message(b"/api/echo?" + query, headers=((b"Referer", b"/?" + query),)))
    await target.ask(Message(b"/api/echo?" + mark))
    for line in (await target.logged(mark)).splitlines():
        if secret.decode() in line:
            yield Finding("breach", "a secret of a link is in the access log", line)


FURTHER = (check_payloads, check_documents, check_channels, check_money, check_secrets)
