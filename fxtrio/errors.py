"""Every exception fxtrio raises on purpose.

Messages read ``place: cause. Remedy.`` and quote the value that caused them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import attrs


class FxtrioError(Exception):
    """The base of all errors below; the command line prints it without a traceback."""


class LoaderError(Exception):
    """Raised in a loader: the nearest `error.fxl` shows ``message``.

    ``data`` is JSON-serializable and reaches the error page as ``error.data``.
    """

    def __init__(
        self, message: str, status_code: int = 500, data: dict[str, Any] | None = None
    ) -> None:
        super().__init__(message)
        self.message = message
        self.status_code = status_code
        self.data: dict[str, Any] = {} if data is None else data


class ActionError(Exception):
    """Raised in an action: the client gets ``{ok: false, error: message}``.

    ``fields`` maps a field path to its messages.
    """

    def __init__(
        self,
        message: str,
        status_code: int = 400,
        data: dict[str, Any] | None = None,
        *,
        fields: dict[str, list[str]] | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.status_code = status_code
        self.data: dict[str, Any] = {} if data is None else data
        self.fields: dict[str, list[str]] = {} if fields is None else fields


class ValidationActionError(ActionError):
    """A body that does not hold: raised for a typed body, and by applications.

    Use it for what a model cannot express, such as uniqueness.
    """

    def __init__(
        self,
        message: str = "Validation failed",
        *,
        fields: dict[str, list[str]],
        status_code: int = 422,
        data: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(message, status_code, data, fields=fields)


REDIRECT_STATUS = frozenset({301, 302, 303, 307, 308})


class Redirect(Exception):
    """Sends the client to ``url``. Made by `redirect`; returned or raised."""

    def __init__(self, url: str, status: int = 303) -> None:
        if status not in REDIRECT_STATUS:
            raise ValueError(f"redirect: {status} is not one of {sorted(REDIRECT_STATUS)}.")
        if not url or any(ord(char) < 0x20 or ord(char) == 0x7F for char in url):
            raise ValueError(f"redirect: {url!r} is not a URL.")
        super().__init__(url)
        self.url = url
        self.status = status


class ManifestUnreadable(FxtrioError):
    """The build folder holds no manifest that this version can read."""

    def __init__(self, path: Path, cause: str) -> None:
        super().__init__(f"{path}: {cause}. Run 'fx build'.")
        self.path = path
        self.cause = cause


class NotSerializable(FxtrioError):
    """A loader or action returned something that JSON cannot hold."""

    def __init__(self, place: str, path: str, value: object) -> None:
        name = type(value).__name__
        shown = repr(value)
        shown = shown if len(shown) <= 80 else shown[:77] + "..."
        where = f"the value at {path.lstrip('.')!r}" if path else "the returned value"
        super().__init__(
            f"{place}: {where} is not JSON-serializable: {shown} ({name}). "
            "Return str, int, finite float, bool, None, list, dict, dates, UUID, Decimal, "
            "or an attrs, dataclass or pydantic object."
        )
        self.place = place
        self.path = path.lstrip(".")
        self.value = value


@attrs.frozen
class ConfigProblem:
    """One mistake in the settings; `ConfigInvalid` carries all of them."""

    place: str
    """The file (with line and column for broken JSON), the variable, or "keyword argument"."""

    key: str
    """The path of the setting, for example ``ssr.workers``; empty when ``place`` says it all."""

    cause: str

    def __str__(self) -> str:
        """Return ``place: key cause.``"""
        where = f"{self.place}: {self.key}" if self.key else f"{self.place}:"
        end = "" if self.cause.endswith((".", "?")) else "."
        return f"{where} {self.cause}{end}"


class ConfigInvalid(FxtrioError):
    """The settings of an app cannot be used. Raised with every problem found."""

    def __init__(self, problems: tuple[ConfigProblem, ...]) -> None:
        super().__init__("\n".join(str(problem) for problem in problems))
        self.problems = problems


class BadBody(ActionError):
    """A request body that cannot be parsed; becomes the action's answer with status 400."""


class BodyTooLarge(ActionError):
    """A request body above `limits.body`; becomes the answer with status 413."""

    def __init__(self, limit: int) -> None:
        super().__init__(f"The body is larger than {limit} bytes.", 413)
        self.limit = limit
