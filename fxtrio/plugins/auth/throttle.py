"""Limits failed attempts. Pure: marks and the time in, a verdict out.

Each key (an address, a client) has a bucket that holds ``capacity`` failures and
loses one every ``pause`` seconds. All that is stored of it is its mark: the time at
which it will be empty (the generic cell rate algorithm). A mark in the past is no mark.
"""

from __future__ import annotations

import hashlib
import ipaddress
from collections.abc import Mapping, Sequence

import attrs
from starlette.types import Scope

Marks = Mapping[str, float]
"""Key to the time at which its bucket is empty (seconds since 1970)."""


@attrs.frozen
class Bucket:
    """One limit that an attempt counts against."""

    key: str
    capacity: int
    pause: float
    """Seconds in which one failure is forgotten."""


@attrs.frozen
class Verdict:
    """The verdict on an attempt."""

    wait: float
    """Seconds until an attempt will be let through; 0 for this one."""

    marks: Marks
    """The new marks; only those that change."""


def charge(buckets: Sequence[Bucket], marks: Marks, now: float) -> Verdict:
    """Count an attempt as failed before it begins, so that many at once gain nothing.

    All buckets must have room; a refused attempt is not counted. A mark further ahead than
    that of a full bucket comes from a clock that has gone back since. Up to a pause it
    becomes that of a full one; beyond, it tells nothing any more, and the bucket is empty.
    """
    latest = {each.key: now + each.capacity * each.pause for each in buckets}
    pauses = {each.key: each.pause for each in buckets}
    drawn_in = {
        key: 0.0 if marks[key] - full > pauses[key] else full
        for key, full in latest.items()
        if marks.get(key, now) > full
    }
    held = {**marks, **drawn_in}
    filled = {each.key: max(held.get(each.key, now), now) + each.pause for each in buckets}
    wait = max([0.0, *(filled[key] - latest[key] for key in latest)])
    # What is left over of a sum of floats is no reason to wait.
    return Verdict(wait, drawn_in) if wait > 1e-6 else Verdict(0.0, filled)


def forgive(account: Bucket, others: Sequence[Bucket], marks: Marks, now: float) -> Marks:
    """Return the new marks after the attempt succeeded.

    The account's bucket is emptied; the others lose what the attempt had added.
    """
    refunds = {each.key: marks[each.key] - each.pause for each in others if each.key in marks}
    # A mark of now would mean something to a clock that goes back.
    refunded = {key: mark if mark > now else 0.0 for key, mark in refunds.items()}
    return {account.key: 0.0, **refunded}


def account_key(email: str) -> str:
    """Return the key of an address, known or not. People type passwords there: it is a hash."""
    return "account:" + hashlib.sha256(email.encode()).hexdigest()


def client_of(scope: Scope) -> str | None:
    """Return the IP address of a connection's client, if the server knows it."""
    client = scope.get("client")
    return None if client is None else str(client[0])


def client_key(host: str | None) -> str | None:
    """Return the key of a client: its IPv4 address, or the /64 network of its IPv6 address.

    None when the server does not know it, as on a Unix socket.
    """
    try:
        address = ipaddress.ip_address(host or "")
    except ValueError:
        return None
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped is not None:
            return f"client:{address.ipv4_mapped}"
        network = ipaddress.IPv6Network((address.packed, 64), strict=False)
        return f"client:{network.network_address}"
    return f"client:{address}"
