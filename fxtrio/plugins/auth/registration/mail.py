"""The mails of accounts: their text, and the project's function that sends them. Pure."""

from __future__ import annotations

from typing import Literal

import attrs


@attrs.frozen(kw_only=True)
class Email:
    """A mail to send, as ``sendEmail`` gets it."""

    kind: Literal["verify", "taken"]
    to: str
    subject: str
    text: str = attrs.field(repr=False)
    """In English; a function that needs another text uses ``kind`` and ``link``."""

    link: str = attrs.field(repr=False)
    """The page that the mail leads to. Whoever has that of ``verify`` may try to confirm."""


def verification(to: str, link: str) -> Email:
    """Return the mail to an address that is free, with the link that confirms it."""
    text = (
        f"Somebody has registered with this address. If it was you, confirm it here:\n\n{link}\n\n"
        "You will be asked for the password that you have chosen. If it was not you, do nothing.\n"
    )
    return Email(kind="verify", to=to, subject="Confirm your address", text=text, link=link)


def taken(to: str, link: str) -> Email:
    """Return the mail to the owner of an address that was registered again."""
    text = (
        "Somebody has tried to register with this address, which already has an account.\n"
        f"If it was you, sign in here:\n\n{link}\n\nIf it was not you, do nothing.\n"
    )
    return Email(kind="taken", to=to, subject="You already have an account", text=text, link=link)
