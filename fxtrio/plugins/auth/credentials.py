"""Whether what somebody sends may be an address and a password, by the settings. Pure."""

from __future__ import annotations

from fxtrio.plugins.auth.passwords import normalize_password, password_problem
from fxtrio.plugins.auth.settings import AuthSettings


def readable_password(password: object, *, longest: int) -> str | None:
    """Return a password as it is hashed; None when nobody can have it.

    ``longest`` counts characters.
    """
    if not isinstance(password, str) or not 0 < len(password) <= longest:
        return None
    return normalize_password(password)


def credential_problems(
    settings: AuthSettings, address: str | None, password: object
) -> dict[str, list[str]]:
    """Return what is wrong with a new password, and with an address that is None, by field."""
    fields: dict[str, list[str]] = {}
    if address is None:
        fields["email"] = ["This is not an email address."]
    problem = "Choose a password."
    if isinstance(password, str) and password:
        problem = password_problem(
            password,
            shortest=settings.password_min_length,
            longest=settings.password_max_length,
            email=address or "",
        )
    if problem:
        fields["password"] = [problem]
    return fields
