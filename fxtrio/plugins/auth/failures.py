"""Why accounts cannot be looked after."""

from __future__ import annotations

from pathlib import Path

from fxtrio.errors import FxtrioError


class AuthDatabaseUnusable(FxtrioError):
    """The auth plugin cannot work with its database."""

    def __init__(self, path: Path, cause: str) -> None:
        super().__init__(
            f"{path}: {cause}. Check the file and its folder, or set another "
            "'database' in the settings of the auth plugin."
        )
        self.path = path
        self.cause = cause


class AuthNotInstalled(FxtrioError):
    """Something asked for the auth plugin in an app that runs without it, or outside of one."""

    def __init__(self, place: str, *, outside: bool = False) -> None:
        super().__init__(
            f"{place}: no app is running here. Call it in a loader, an action, an endpoint, a "
            "job, or a test within 'open_app'."
            if outside
            else f"{place}: the auth plugin is not running. "
            "Add 'auth' to 'plugins' in fx.config.json."
        )


class AuthMailMissing(FxtrioError):
    """Addresses shall be verified, and something that is needed for mails is not set."""

    def __init__(self, setting: str, example: str) -> None:
        super().__init__(
            f"the auth plugin: 'verifyEmail' needs '{setting}' in its settings, "
            f"such as '{example}'."
        )
        self.setting = setting


class AuthStorageUnavailable(FxtrioError):
    """The database of accounts cannot be read or written for now; answered with 503."""

    def __init__(self, cause: str) -> None:
        super().__init__(
            f"auth: the database does not work: {cause}. Make room on its disk, see that its "
            "folder may be written, and that no other program holds it."
        )
        self.cause = cause


class SecretKeyMissing(FxtrioError):
    """Something must be signed, and there is no key."""

    def __init__(self, place: str) -> None:
        super().__init__(f"{place}: there is no secret key. Set FX_SECRET_KEY.")


class HashingBusy(FxtrioError):
    """As many passwords as may wait to be hashed are waiting; answered with 503."""

    def __init__(self, waiting: int) -> None:
        super().__init__(
            f"auth: {waiting} passwords wait to be hashed. Try again in a moment, or raise "
            "'hashingThreads' in the settings of the auth plugin."
        )
        self.waiting = waiting
