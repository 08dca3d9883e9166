"""The bases of all errors, and those that applications raise or catch.

Errors that only one part of fxtrio raises stand in that part.

Messages read ``place: cause. Remedy.`` and quote the value that caused them.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Generic, TypeVar
from urllib.parse import quote, urlsplit

from fxtrio.sizes import size_text
from fxtrio.status import as_status

Problem = TypeVar("Problem")


def display_path(path: Path) -> str:
    """Return ``path`` as messages name it: relative to the current folder when it is below it."""
    try:
        return path.absolute().relative_to(Path.cwd()).as_posix()
    except (ValueError, OSError):  # elsewhere, or the current folder was deleted
        return str(path)


def sentence(text: str) -> str:
    """Return ``text`` with a full stop, unless it ends with one or with a question mark."""
    return text if text.endswith((".", "?")) else f"{text}."


class _Copied(Exception):
    """Can be copied and pickled, whatever its constructor takes: attributes are all it has."""

    def __reduce__(self) -> tuple[Any, ...]:
        return _remade, (type(self), self.args), self.__dict__


def _remade(kind: type[Exception], args: tuple[Any, ...]) -> Exception:
    return kind.__new__(kind, *args)


class FxtrioError(_Copied):
    """The base of all errors below; the command line prints it without a traceback."""


class PlacedError(FxtrioError):
    """The base of errors with the message ``place: cause. Remedy.``"""

    remedy = ""
    """What to do about it. A class for which that is always the same sets it."""

    def __init__(self, place: str, cause: str, remedy: str = "", *, output: str = "") -> None:
        """``cause`` and ``remedy`` need no full stop; ``output`` stands in the lines below."""
        self.place = place
        self.cause = cause
        self.remedy = remedy or self.remedy
        message = f"{place}: {sentence(cause)}" if place else sentence(cause)
        message += f" {sentence(self.remedy)}" if self.remedy else ""
        super().__init__(f"{message}\n{output}" if output else message)


class Signal(Exception):
    """The base of what one part of fxtrio raises for another, which catches it.

    Nobody reads its text, so that it has no place and no remedy.
    """


class SeveralProblems(FxtrioError, Generic[Problem]):
    """The base of errors that report all problems which were found together, one after another."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        Exception.__init__(self, "\n".join(map(str, self.problems)))


class AssetInvalid(PlacedError):
    """The base of errors about a picture or a font, which the bundler reports with its place."""

    def __init__(self, cause: str, remedy: str) -> None:
        super().__init__("", cause, remedy)

    @property
    def problem(self) -> dict[str, str]:
        """What the bundler gets."""
        return {"message": self.cause, "remedy": self.remedy}


def asset_extra_missing(extra: str) -> AssetInvalid:
    """Return that assets need an extra, which is called as they are: ``fonts``."""
    remedy = f"Run \"pip install 'fxtrio[{extra}]'\""
    return AssetInvalid(f"{extra} need the extra {extra!r}", remedy)


def first_line(error: BaseException) -> str:
    """Return the first line of what a library has raised, without a full stop, for a message."""
    return (str(error).splitlines() or [type(error).__name__])[0].rstrip(".")[:200]


class Busy(FxtrioError):
    """Something has as much to do as it can: the answer is a 503 with `Retry-After`."""

    message = "The server is busy. Try again in a moment."
    """The message that clients get."""

    retry_after: float = 1
    """When they may try again (seconds)."""


class LoaderError(_Copied):
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


class NotFound(LoaderError):
    """Raised in a loader for a missing page: the nearest `not-found.fxl` shows ``message``.

    A `LoaderError` with status 404 shows the nearest `error.fxl`, and so does this error if no
    folder up to the root has a `not-found.fxl`.
    """

    def __init__(
        self, message: str = "This page could not be found.", data: dict[str, Any] | None = None
    ) -> None:
        super().__init__(message, 404, data)


class ActionError(_Copied):
    """Raised in an action: the client gets ``{ok: false, error: message}``.

    ``fields`` maps a field path to its messages; a str alone becomes a list of one.
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
        if isinstance(fields, Mapping):  # else what shows it says so
            # Clients join lists, and a str is easily written where a list of one is meant.
            self.fields = {
                path: [messages] if isinstance(messages, str) else messages
                for path, messages in fields.items()
            }


class ValidationActionError(ActionError):
    """A body is invalid: raised for a typed body, and by applications.

    Use it for rules that a model cannot express, such as uniqueness.
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


_PRINTABLE = "".join(map(chr, range(0x21, 0x7F)))
REDIRECT_STATUS = frozenset({301, 302, 303, 307, 308})


_AMBIGUOUS = r"[/\\]{2}|https?:(?!//[^/\\])"
# Sites that look like paths, to whoever tests for a slash: "//host", "/\host", "https:host".


class Redirect(_Copied):
    """Sends the client to ``url``. Created by `redirect`; returned or raised."""

    invalidated: tuple[str, ...] = ()
    """URLs that `invalidate_routes` names."""

    def __init__(self, url: str, status: int = 303) -> None:
        if as_status(status) not in REDIRECT_STATUS:
            raise ValueError(f"redirect: {status!r} is not one of {sorted(REDIRECT_STATUS)}.")
        if not url.strip() or any(ord(char) < 0x20 or ord(char) == 0x7F for char in url):
            raise ValueError(f"redirect: {url!r} is not a URL.")
        # What a header can hold, as browsers write it.
        self.url = quote(url.strip(), safe=_PRINTABLE)
        if urlsplit(self.url).scheme not in ("", "http", "https"):
            raise ValueError(f"redirect: {url!r} leads to neither a page nor a site.")
        if re.match(_AMBIGUOUS, self.url, re.IGNORECASE):
            raise ValueError(f"redirect: {url!r} leads to another site. Write it with https://.")
        super().__init__(self.url)
        self.status = int(status)


class ValueInvalid(PlacedError):
    """The base of errors about what a function of the application returned.

    The message says all there is: no line of a traceback has to do with it.
    """


class ResultInvalid(ValueInvalid):
    """The base of errors about a result of a type that cannot be used; ``remedy`` names those."""

    def __init__(self, place: str, value: object) -> None:
        forgotten = forgotten_await(value)
        if forgotten:
            self.remedy = ""  # these words say what to do
        super().__init__(place, f"returned {forgotten or described(value)}")


class FunctionInvalid(PlacedError):
    """The base of errors about a setting that names no function which can be called."""

    def __init__(self, key: str, name: str, cause: str) -> None:
        super().__init__(key, f"is {name!r}, {cause}")


def named_function(
    key: str, name: str, resolve: Callable[[str], object] | None, invalid: type[FunctionInvalid]
) -> Callable[..., Any]:
    """Return the function that the setting ``key`` names; without ``resolve`` there is none.

    Raises ``invalid`` for a name that cannot be imported, or is that of something else.
    """
    try:
        found = None if resolve is None else resolve(name)
    except DottedNameUnknown as error:
        raise invalid(key, name, f"which cannot be imported: {error.cause}") from error
    if not callable(found):
        raise invalid(key, name, "which is not a function")
    return found


def described(value: object) -> str:
    """Return a value and its type, in as many words as a message has room for."""
    return f"{value!r:.80} ({type(value).__name__})"


def forgotten_await(value: object) -> str:
    """Return the words for a coroutine that nobody awaits, "" for another value.

    It is closed: Python would otherwise warn of it too, at a line of the framework.
    """
    if not inspect.iscoroutine(value):
        return ""
    value.close()
    return f"the coroutine {value.__qualname__}(). Was 'await' forgotten?"


class BadBody(ActionError, ValueError):
    """A request body that cannot be parsed; becomes the action's answer with status 400."""


class CharsetUnsupported(ActionError):
    """Text in another charset than UTF-8; becomes the answer with status 415."""

    def __init__(self, charset: str) -> None:
        super().__init__(f"The charset is {charset[:40]!r}. Send UTF-8.", 415)
        self.charset = charset


class BodyTooLarge(ActionError):
    """A request body above `limits.body`; becomes the answer with status 413."""

    def __init__(self, limit: int) -> None:
        super().__init__(f"The body is larger than {size_text(limit)}.", 413)
        self.limit = limit


class BodiesFull(ActionError):
    """`limits.bodies` is reached; becomes the answer with status 503 and `Retry-After`."""

    retry_after = 5
    """How long to wait before another attempt (seconds)."""

    def __init__(self) -> None:
        super().__init__("Too much is being sent at once. Try again in a moment.", 503)


class TaskQueueError(PlacedError):
    """The task queue did not accept a job."""


class TaskQueueFull(TaskQueueError, Busy):
    """The maximum number of jobs is waiting for a worker.

    If nothing catches it, the response has status 503 and `Retry-After`.
    """

    remedy = "Try again later, or raise 'tasks.capacity' or 'tasks.workers'"

    def __init__(self, job: str, capacity: int) -> None:
        super().__init__(job, f"not enqueued, {capacity} jobs already wait for a worker")
        self.job = job
        self.capacity = capacity


class TaskQueueNotRunning(TaskQueueError):
    """A job was enqueued outside a running app, or after its shutdown had begun."""

    def __init__(self, job: str, cause: str = "the app has ended, or is about to") -> None:
        super().__init__(job, f"not enqueued, {cause}")
        self.job = job


class ClientDisconnected(PlacedError, ConnectionError):
    """An application sends to a client that has disconnected. It may let this pass."""

    def __init__(self) -> None:
        super().__init__("send", "the client has disconnected", "You need not catch this error")


class AppNotRunning(PlacedError):
    """A request came to an app whose lifespan has not begun, or has ended.

    Or code needs an app where none can be found, and ``cause`` says why.
    """

    def __init__(self, cause: str = "") -> None:
        remedy = (
            "Serve it with a server that runs the ASGI lifespan, such as 'fx serve', run "
            "'app.open_mounted()' in the lifespan of the app that it is mounted in, or open it "
            "with fx.testing"
        )
        super().__init__("fxtrio", cause or "the app is not running", "" if cause else remedy)


class DottedNameUnknown(PlacedError):
    """A ``module:attribute`` of the settings leads nowhere."""

    remedy = "Write it as 'module:attribute', with the module importable from the project folder"

    def __init__(self, name: str, cause: str) -> None:
        super().__init__("fx.config.json", f"{name!r} cannot be imported: {cause}")
        self.name = name
        self.cause = cause


class ExtraMissing(PlacedError):
    """A part of fxtrio needs a distribution that is not installed."""

    def __init__(self, place: str, extra: str, distribution: str) -> None:
        super().__init__(
            place,
            f"{distribution} is not installed",
            f"Run \"pip install 'fxtrio[{extra}]'\"",
        )
        self.extra = extra
        self.distribution = distribution


class MessageNotEncodable(PlacedError, TypeError):
    """A message was published that no WebSocket frame can hold."""

    remedy = "Publish a dict or list of JSON values, a str, or bytes"

    def __init__(self, message: object, cause: str) -> None:
        super().__init__(f"publish({message!r:.80})", cause)
        self.message = message


class MessageTooLarge(PlacedError, ValueError):
    """A message was published that is larger than `realtime.maxPublish`."""

    remedy = "Publish a URL or an id instead, or raise the setting"

    def __init__(self, channel: str, size: int, limit: int) -> None:
        super().__init__(
            f"publish({channel!r})",
            f"the message has {size:,} bytes, more than the {limit:,} of realtime.maxPublish",
        )
        self.channel = channel
        self.size = size
        self.limit = limit


class BrokerUnreachable(PlacedError):
    """The message broker did not answer."""

    remedy = "Is it running? See 'realtime.broker'"

    def __init__(self, place: str, what: str) -> None:
        super().__init__(place, f"the broker could not {what}")


def leaves(group: BaseExceptionGroup[BaseException]) -> list[BaseException]:
    """Return the exceptions of a group and of the groups in it."""
    found: list[BaseException] = []
    for error in group.exceptions:
        found += leaves(error) if isinstance(error, BaseExceptionGroup) else [error]
    return found
