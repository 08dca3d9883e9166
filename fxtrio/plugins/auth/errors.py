"""Why accounts cannot be looked after."""

from __future__ import annotations

from fxtrio.context import why_no_app
from fxtrio.errors import PlacedError


class AuthDatabaseUnusable(PlacedError):
    """The auth plugin cannot work with its database."""

    remedy = "Check it, or set another 'database' in the settings of the auth plugin"


class AuthInTransaction(PlacedError):
    """An attempt is to be counted within a transaction, which would forget it if it failed."""

    remedy = (
        "Call them before or after 'db.transaction()', and in an action without 'transaction=True'"
    )

    def __init__(self) -> None:
        super().__init__(
            "auth",
            "log_in, register, confirm and change_password count attempts, and a rollback would "
            "discard that count",
        )


class AuthNotInstalled(PlacedError):
    """Code uses the auth plugin in an app without it, or outside of an app."""

    def __init__(self, place: str, *, outside: bool = False) -> None:
        if outside:
            super().__init__(place, why_no_app())
        else:
            remedy = "Add 'auth' to 'plugins' in fx.config.json"
            super().__init__(place, "the auth plugin is not running", remedy)


class AuthMailMissing(PlacedError):
    """Addresses shall be verified, and something that is needed for mails is not set."""

    def __init__(self, setting: str, example: str) -> None:
        super().__init__(
            "the auth plugin",
            f"'verifyEmail' needs '{setting}' in its settings, such as '{example}'",
        )


class AuthStorageUnavailable(PlacedError):
    """The database of accounts currently cannot be read or written; the response is 503."""

    remedy = (
        "Check that it runs and is writable, that its disk has space, and that no other program "
        "locks it"
    )

    def __init__(self, cause: str) -> None:
        super().__init__("auth", f"the database does not work: {cause}")
        self.cause = cause


class SecretKeyMissing(PlacedError):
    """Something must be signed, and there is no key."""

    def __init__(self, place: str) -> None:
        super().__init__(place, "there is no secret key", "Set FX_SECRET_KEY")


class HashingBusy(PlacedError):
    """Too many passwords wait to be hashed; the response is 503."""

    remedy = "Try again in a moment, or raise 'hashingThreads' in the settings of the auth plugin"

    def __init__(self, waiting: int) -> None:
        super().__init__("auth", f"{waiting} passwords wait to be hashed")
