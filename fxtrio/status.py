"""The one rule for the status of a response, wherever application code gives it."""

from __future__ import annotations

from http import HTTPStatus

BODILESS = frozenset({204, 205, 304})
"""Statuses of responses that have no content (RFC 9110, sections 15.3.5, 15.3.6 and 15.4.5)."""


def as_status(value: object) -> int | None:
    """Return ``value`` as the status of a response; None if it is not one.

    An int from 200 to 599, members of `http.HTTPStatus` included. Not a bool, which is an
    int by descent alone, and not 1xx: an interim response does not end a request.
    """
    if isinstance(value, int) and not isinstance(value, bool) and 200 <= value <= 599:
        return int(value)
    return None


def phrase_of(status: int) -> str:
    """Return the standard words for ``status``, "Error" for one that has none."""
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "Error"
