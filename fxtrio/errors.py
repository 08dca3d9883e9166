"""Every exception fxtrio raises on purpose.

Messages read ``place: cause. Remedy.`` and quote the value that caused them.
"""

from __future__ import annotations

import inspect
import re
import reprlib
from collections.abc import Sequence
from pathlib import Path
from textwrap import indent
from typing import Any, Literal
from urllib.parse import quote, urlsplit

import attrs


def shown_path(path: Path) -> str:
    """Return ``path`` as messages name it: relative to the current folder when it is below it."""
    try:
        return path.absolute().relative_to(Path.cwd()).as_posix()
    except (ValueError, OSError):  # elsewhere, or the current folder is gone
        return str(path)


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
        # Clients join lists, and a str is easily written where a list of one is meant.
        self.fields: dict[str, list[str]] = {
            path: [messages] if isinstance(messages, str) else messages
            for path, messages in (fields or {}).items()
        }


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


_PRINTABLE = "".join(map(chr, range(0x21, 0x7F)))
REDIRECT_STATUS = frozenset({301, 302, 303, 307, 308})


_AMBIGUOUS = re.compile(r"[/\\]{2}|https?:(?!//[^/\\])", re.IGNORECASE)
# Sites that look like paths, to whoever tests for a slash: "//host", "/\host", "https:host".


class Redirect(Exception):
    """Sends the client to ``url``. Made by `redirect`; returned or raised."""

    def __init__(self, url: str, status: int = 303) -> None:
        if status not in REDIRECT_STATUS:
            raise ValueError(f"redirect: {status} is not one of {sorted(REDIRECT_STATUS)}.")
        if not url.strip() or any(ord(char) < 0x20 or ord(char) == 0x7F for char in url):
            raise ValueError(f"redirect: {url!r} is not a URL.")
        # What a header can hold, as browsers write it.
        self.url = quote(url.strip(), safe=_PRINTABLE)
        if urlsplit(self.url).scheme not in ("", "http", "https"):
            raise ValueError(f"redirect: {url!r} leads to neither a page nor a site.")
        if _AMBIGUOUS.match(self.url):
            raise ValueError(f"redirect: {url!r} leads to another site. Write it with https://.")
        super().__init__(self.url)
        self.status = status


class ManifestUnreadable(FxtrioError):
    """The build folder holds no manifest that this version can read."""

    def __init__(self, path: Path, cause: str) -> None:
        super().__init__(f"{shown_path(path)}: {cause}. Run 'fx build'.")
        self.path = path
        self.cause = cause


class ValueRefused(FxtrioError):
    """The base of errors about what a function of the application returned.

    The message says all there is: no line of a traceback has to do with it.
    """


def _forgotten(value: object) -> str:
    """Return the words for a coroutine that nobody awaits, "" for another value.

    It is closed: Python would otherwise warn of it too, at a line of the framework.
    """
    if not inspect.iscoroutine(value):
        return ""
    value.close()
    return f"the coroutine {value.__qualname__}(). Was 'await' forgotten?"


class NotSerializable(ValueRefused):
    """A loader or action returned something that JSON cannot hold."""

    def __init__(self, place: str, path: str, value: object) -> None:
        name = type(value).__name__
        shown = reprlib.repr(value)
        where = f"the value at {path.lstrip('.')!r}" if path else "the returned value"
        forgotten = _forgotten(value)
        super().__init__(
            f"{place}: {where} is {forgotten}"
            if forgotten
            else f"{place}: {where} is not JSON-serializable: {shown} ({name}). "
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
    """The file, the variable, or "keyword argument"."""

    key: str
    """The path of the setting, for example ``ssr.workers``; empty when ``place`` says it all."""

    cause: str

    line: int = 0
    """In the file, 1-based; 0 when there is none."""

    column: int = 0
    """1-based, in characters; 0 like ``line``."""

    def __str__(self) -> str:
        """Return ``place:line:column: key cause.``"""
        place = f"{self.place}:{self.line}:{self.column}" if self.line else self.place
        where = f"{place}: {self.key}" if self.key else f"{place}:"
        end = "" if self.cause.endswith((".", "?")) else "."
        return f"{where} {self.cause}{end}"


class ConfigInvalid(FxtrioError):
    """The settings of an app cannot be used. Raised with every problem found."""

    def __init__(self, problems: tuple[ConfigProblem, ...]) -> None:
        super().__init__("\n".join(str(problem) for problem in problems))
        self.problems = problems


class BadBody(ActionError, ValueError):
    """A request body that cannot be parsed; becomes the action's answer with status 400."""


class CharsetRefused(ActionError):
    """Text in another charset than UTF-8; becomes the answer with status 415."""

    def __init__(self, charset: str) -> None:
        super().__init__(f"The charset is {charset[:40]!r}. Send UTF-8.", 415)
        self.charset = charset


class BodyTooLarge(ActionError):
    """A request body above `limits.body`; becomes the answer with status 413."""

    def __init__(self, limit: int) -> None:
        super().__init__(f"The body is larger than {limit} bytes.", 413)
        self.limit = limit


class BodiesFull(ActionError):
    """`limits.bodies` is reached; becomes the answer with status 503 and `Retry-After`."""

    retry_after = 5
    """When to try again (seconds)."""

    def __init__(self) -> None:
        super().__init__("Too much is being sent at once. Try again in a moment.", 503)


class PageCodeInvalid(FxtrioError):
    """The server half of a page file cannot be used as it stands."""

    def __init__(self, place: str, cause: str) -> None:
        super().__init__(f"{place}: {cause}.")
        self.place = place
        self.cause = cause


class LoaderResultInvalid(ValueRefused):
    """A loader returned neither a dict nor a tuple of a dict and a status."""

    def __init__(self, place: str, value: object) -> None:
        told = _forgotten(value) or (
            f"{value!r:.80} ({type(value).__name__}). "
            "Return a dict, or a tuple of a dict and an HTTP status."
        )
        super().__init__(f"{place}: returned {told}")
        self.place = place


class RouteHookMistaken(ValueRefused):
    """A route hook cannot be called with the request, or returned what is no answer.

    ``cause`` says what is wrong with it; "" when it is what it ``returned``.
    """

    def __init__(self, name: str, cause: str = "", *, returned: object = None) -> None:
        if not cause:
            shown = f"{returned!r:.80} ({type(returned).__name__})"
            cause = f"returned {_forgotten(returned) or shown}"
        end = "" if cause.endswith("?") else "."
        super().__init__(
            f"route hook {name!r}: {cause}{end} Make it an async function of the request that "
            "returns None to let it pass, or a Response or redirect(…) to answer it."
        )
        self.name = name
        self.cause = cause


class DeadlinePassed(FxtrioError):
    """Work took longer than the deadline that was promised for it; answered with 504."""

    def __init__(self, place: str, seconds: float) -> None:
        super().__init__(f"{place}: took longer than {seconds:g} s. Raise its timeout or do less.")
        self.place = place
        self.seconds = seconds


class MarkdownHookMistaken(FxtrioError):
    """A Markdown hook returned something else than a str or None."""

    def __init__(self, place: str, value: object) -> None:
        super().__init__(
            f"{place}: returned {value!r:.80} ({type(value).__name__}). "
            "Return a str to serve, or None to decline."
        )
        self.place = place
        self.value = value


@attrs.define(eq=False)
class RouteConflict(FxtrioError):
    """Two files answer the same URLs. Found while routes are planned."""

    kept: str
    """Source of the file that came first."""

    source: str
    """Source of the file that clashes with it."""

    pattern: str

    def __str__(self) -> str:
        """Name both files."""
        return (
            f"{self.source}: answers {self.pattern!r}, which {self.kept} already answers. "
            "Rename one file, or move its code into the other."
        )


@attrs.define(eq=False)
class RouteNameInvalid(FxtrioError):
    """A file or folder of the pages folder has a name that is no part of a URL pattern."""

    source: str
    name: str
    cause: str

    def __str__(self) -> str:
        """Quote the part of the path that is wrong."""
        return f"{self.source}: {self.name!r} {self.cause}."


NO_PAGES_FOLDER = (
    "there is no such folder",
    "Run 'fx init NAME' for a new project, or name the folder of yours with --root; "
    "pages in another folder need 'pagesDir' in fx.config.json",
)
"""What is wrong, and what to do about it."""


@attrs.define(eq=False)
class PagesFolderMissing(FxtrioError):
    """The project has no pages folder."""

    folder: Path

    def __str__(self) -> str:
        """Say how to get one."""
        return f"{shown_path(self.folder)}: {NO_PAGES_FOLDER[0]}. {NO_PAGES_FOLDER[1]}."


@attrs.define(eq=False)
class HeadRefused(FxtrioError):
    """A ``HEAD`` value holds something that does not belong into a document's head."""

    cause: str
    line: int
    """In the HTML, 1-based."""

    column: int
    """In the line, 1-based."""

    def __str__(self) -> str:
        """Point into the HTML."""
        return f"HEAD, line {self.line}, column {self.column}: {self.cause}. Remove it."


class TaskQueueError(FxtrioError):
    """A job was not taken by the task queue."""


class TaskQueueFull(TaskQueueError):
    """As many jobs wait for a worker as the queue may hold."""

    def __init__(self, job: str, capacity: int) -> None:
        super().__init__(
            f"{job}: not enqueued, {capacity} jobs already wait for a worker. "
            "Try again later, or raise 'tasks.capacity' or 'tasks.workers'."
        )
        self.job = job
        self.capacity = capacity


class TaskQueueNotRunning(TaskQueueError):
    """A job was enqueued outside a running app, or after its shutdown had begun."""

    def __init__(self, job: str) -> None:
        super().__init__(
            f"{job}: not enqueued, no task queue is running here. Enqueue from a loader, "
            "an action, a WebSocket handler or a job, while the app runs."
        )
        self.job = job


class ActionResultInvalid(ValueRefused):
    """An action returned neither a dict nor a response."""

    def __init__(self, place: str, value: object) -> None:
        told = _forgotten(value) or f"{value!r:.80} ({type(value).__name__}). Return a dict."
        super().__init__(f"{place}: returned {told}")


class HeadResultInvalid(ValueRefused):
    """A ``HEAD`` function returned what is neither HTML nor a list of it."""

    def __init__(self, place: str, value: object) -> None:
        super().__init__(
            f"{place}: returned {value!r:.80} ({type(value).__name__}). "
            "Return a str of HTML, a list of them, or None."
        )
        self.place = place


@attrs.define(eq=False)
class StarterClash(FxtrioError):
    """`fx init` would overwrite files."""

    folder: Path
    files: tuple[str, ...]

    def __str__(self) -> str:
        """Name the files."""
        return (
            f"{shown_path(self.folder)}: {', '.join(self.files)} exist already. "
            "Choose another name, or move them away."
        )


class PluginFailed(FxtrioError):
    """A plugin raised while it was imported, made, opened, run or closed; the cause is kept."""

    def __init__(self, name: str, stage: str, error: BaseException) -> None:
        super().__init__(
            f"plugin {name!r}: {stage}: {type(error).__name__}: {error}. "
            "Mend the cause, or take the plugin out of 'plugins' in fx.config.json."
        )
        self.name = name
        self.stage = stage


class ClientDisconnected(FxtrioError, ConnectionError):
    """An application sends to a client that is gone. It may simply let this pass."""

    def __init__(self) -> None:
        super().__init__("send: the client has left. End the response, or let this error pass.")


class AnswerUnreadable(FxtrioError):
    """A call of the test client got a response of another kind than it reads."""

    def __init__(self, call: str, status: int, media: str, body: bytes, remedy: str) -> None:
        super().__init__(
            f"{call}: the answer has status {status} and is {media}: "
            f"{body[:60].decode(errors='replace')!r}. {remedy}."
        )
        self.call = call
        self.status = status
        self.media = media


class AppNotRunning(FxtrioError):
    """A request came to an app whose lifespan has not begun, or has ended."""

    def __init__(self) -> None:
        super().__init__(
            "fxtrio: the app is not running. Serve it with a server that runs the ASGI "
            "lifespan, such as 'fx serve', or open it with fx.testing."
        )


class FrameRefused(FxtrioError):
    """A frame of the SSR wire has a length that cannot be; the connection is given up."""

    def __init__(self, length: int, limit: int) -> None:
        super().__init__(
            f"SSR frame: its length is {length} bytes, not between the header's and {limit}. "
            "Let the loader return less data, or the page render less HTML."
        )
        self.length = length
        self.limit = limit


class RenderError(FxtrioError):
    """The base of everything that can keep a page from being rendered on the server."""


class RenderFailed(RenderError):
    """A component threw while its page was rendered.

    ``name`` is the JavaScript class, ``stack`` the JavaScript stack with the lines of the
    `.fxl` files (empty when it is not known).
    """

    def __init__(self, message: str, stack: str = "", name: str = "Error") -> None:
        super().__init__(f"{name}: {message}")
        self.message = message
        self.stack = stack
        self.name = name


class RenderTimeout(RenderError):
    """A page was rendered for longer than `timeouts.render`; its worker was killed."""

    def __init__(self, page: int, timeout: float) -> None:
        super().__init__(
            f"page {page}: its render did not end within {timeout:g} s, so its worker was "
            "replaced. Look for an endless loop, or raise timeouts.render."
        )
        self.page = page
        self.timeout = timeout


class RenderCrashed(RenderError):
    """The render of a page ended its worker; ``cause`` says how."""

    def __init__(self, page: int, cause: str) -> None:
        super().__init__(
            f"page {page}: the worker that rendered it {cause}. "
            "Look for process.exit() or unbounded memory in its components."
        )
        self.page = page
        self.cause = cause


class SsrBusy(RenderError):
    """`ssr.maxPending` renders are waiting or under way.

    ``retry_after`` is the time after which a new attempt makes sense (seconds, at least 1).
    """

    def __init__(self, pending: int, retry_after: float) -> None:
        super().__init__(
            f"SSR pool: {pending} renders are pending. Try again in {retry_after:g} s, "
            "or raise ssr.workers or ssr.maxPending."
        )
        self.pending = pending
        self.retry_after = retry_after


class SsrDown(RenderError):
    """No SSR worker is alive, and none will be at once; ``cause`` says why."""

    def __init__(self, cause: str) -> None:
        super().__init__(f"SSR pool: {cause}.")
        self.cause = cause


class SsrStartFailed(FxtrioError):
    """An SSR worker did not come up. ``log`` holds the last lines that it wrote."""

    def __init__(self, bundle: Path, cause: str, log: str = "") -> None:
        said = f" It wrote:\n{log}" if log else ""
        super().__init__(f"{bundle}: the SSR worker {cause}.{said}")
        self.bundle = bundle
        self.cause = cause
        self.log = log


class DottedNameUnknown(FxtrioError):
    """A ``module:attribute`` of the settings leads nowhere."""

    def __init__(self, name: str, cause: str) -> None:
        super().__init__(
            f"fx.config.json: {name!r} cannot be imported: {cause}. "
            "Write it as 'module:attribute', with the module importable from the project folder."
        )
        self.name = name
        self.cause = cause


class NodeMissing(FxtrioError):
    """There is no Node that can run the bundler and the SSR workers."""

    def __init__(self, minimum: str, refused: tuple[str, ...] = ()) -> None:
        found = f" ({'; '.join(refused)})" if refused else ""
        super().__init__(
            f"node: version {minimum} or newer is needed, and there is none{found}. "
            'Install it from https://nodejs.org, or run: pip install "fxtrio[node]"'
        )
        self.minimum = minimum
        self.refused = refused


class ToolchainFailed(FxtrioError):
    """The bundler and React could not be installed into the cache folder."""

    def __init__(self, folder: Path, cause: str, remedy: str, output: str = "") -> None:
        shown = f"\n{output}" if output else ""
        super().__init__(f"{folder}: {cause}. {remedy}.{shown}")
        self.folder = folder
        self.cause = cause
        self.output = output


@attrs.frozen(order=True)
class BundleProblem:
    """One mistake the bundler found; `BundleFailed` carries all of them."""

    path: str
    """As `shown_path` names it; "" when it belongs to no file."""

    line: int
    """1-based; 0 when the place within the file is not known."""

    column: int
    """1-based, in characters; 0 like ``line``."""

    message: str
    """What is wrong, and what to do about it."""

    frame: str = attrs.field(default="", order=False)
    """The lines around the place, with a mark; "" when there are none."""

    def __str__(self) -> str:
        """Return ``path:line:column: message``, without what is not known."""
        place = f"{self.path}:{self.line}:{self.column}" if self.line else self.path
        head = f"{place}: {self.message}" if place else self.message
        return f"{head}\n{indent(self.frame, '  ')}" if self.frame else head


class BundleFailed(FxtrioError):
    """The user interface cannot be bundled. Raised with every problem found."""

    def __init__(self, problems: tuple[BundleProblem, ...]) -> None:
        super().__init__("\n".join(str(problem) for problem in problems))
        self.problems = problems


class BundlerCrashed(FxtrioError):
    """The bundler ended without saying what is wrong with the project: a defect."""

    def __init__(self, code: int, output: str) -> None:
        super().__init__(
            f"the bundler: ended with code {code} without a result. "
            f"Report this with the lines below.\n{output}"
        )
        self.code = code
        self.output = output


class TrialCrashed(FxtrioError):
    """The process in which `fx check` imports a project ended before it began: a defect."""

    def __init__(self, code: int | None, output: str) -> None:
        super().__init__(
            f"fx check: the process that imports the project ended with {code}. "
            f"Report this with the lines below; --static does without it.\n{output}"
        )
        self.code = code
        self.output = output


class LifespanEnded(FxtrioError):
    """The application's lifespan ended although it was not told to shut down."""

    def __init__(self) -> None:
        super().__init__(
            "lifespan: it ended while the server runs. "
            "Await the shutdown message, and mend what the log shows above."
        )


class ExtraMissing(FxtrioError):
    """A part of fxtrio needs a distribution that is not installed."""

    def __init__(self, place: str, extra: str, distribution: str) -> None:
        super().__init__(
            f"{place}: {distribution} is not installed. Run \"pip install 'fxtrio[{extra}]'\"."
        )
        self.extra = extra
        self.distribution = distribution


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


class AuthenticatorTaken(FxtrioError):
    """Two plugins want to say who connections belong to."""

    def __init__(self, kept: object, other: object) -> None:
        super().__init__(
            f"plugins: {type(other).__qualname__} and {type(kept).__qualname__} both say who is "
            "signed in. Take one of them out of 'plugins'."
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


class MessageNotEncodable(FxtrioError, TypeError):
    """A message was published that no WebSocket frame can hold."""

    def __init__(self, message: object, cause: str) -> None:
        super().__init__(
            f"publish({message!r:.80}): {cause}. "
            "Publish a dict or list of JSON values, a str, or bytes."
        )
        self.message = message
        self.cause = cause


class WebSocketNotAccepted(FxtrioError):
    """A WebSocket was put on a channel before its handshake was answered, or after its end."""

    def __init__(self, channel: str) -> None:
        super().__init__(
            f"channel({channel!r}): the WebSocket is not open. "
            "Call 'await ws.accept()' before, and do not close it within the block."
        )
        self.channel = channel


class BrokerMissing(FxtrioError):
    """`channel` or `publish` was used where no broker runs, and was given none."""

    def __init__(self, channel: str, *, call: Literal["channel", "publish"] = "channel") -> None:
        says = {
            "channel": "this app has no 'app.state.fx_broker'. Serve it with fxtrio, "
            "or pass broker=…",
            "publish": "no app of fxtrio runs here. Publish in a loader, an action, a job, "
            "or in what they start",
        }
        super().__init__(f"{call}({channel!r}): {says[call]}.")
        self.channel = channel


class PresenceUnavailable(FxtrioError):
    """A custom broker does not know who else is on a channel."""

    def __init__(self, channel: str, broker: object) -> None:
        super().__init__(
            f"channel({channel!r}): {type(broker).__name__} does not tell who is there. "
            "Give it the method 'members(name)' (see PresenceBroker)."
        )
        self.channel = channel


class ReceiveBufferFull(FxtrioError):
    """A WebSocket handler began to receive after messages had been dropped unread."""

    def __init__(self, dropped: int) -> None:
        super().__init__(
            f"receive(): {dropped} messages came and were dropped before this first call. "
            "Receive sooner, or not at all."
        )
        self.dropped = dropped


class OriginUnreadable(FxtrioError):
    """An allowed origin is not of the form ``scheme://host[:port]``."""

    def __init__(self, origin: str) -> None:
        super().__init__(
            f"origin_allowed(): {origin!r} is no origin. "
            "Write scheme, host and port only, such as 'https://example.com:8443'."
        )
        self.origin = origin


class AppNotFound(FxtrioError):
    """The application that is to be served cannot be imported."""

    def __init__(self, target: str, cause: str) -> None:
        super().__init__(f"{target}: {cause}. Name an ASGI application as 'module:name'.")
        self.target = target


class BindFailed(FxtrioError):
    """An address to serve on cannot be used; the cause is kept."""

    def __init__(self, bind: str, cause: str) -> None:
        super().__init__(f"bind {bind!r}: {cause}. Choose another address, or free this one.")
        self.bind = bind


class ProxyUnknown(FxtrioError):
    """What is to be trusted as a proxy is no address; ``name`` is what was given."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"proxy {name!r}: it is no address and no network. "
            "Write '10.0.0.5', '10.0.0.0/8', 'unix' for unix sockets, or '*' for everybody."
        )
        self.name = name


class CertificateUnusable(FxtrioError):
    """A certificate, its key or the list of authorities cannot be used; the cause is kept."""

    def __init__(self, files: Sequence[str], cause: str) -> None:
        super().__init__(
            f"TLS, with {', '.join(files)}: {cause}. "
            "Name PEM files with a certificate, the key that belongs to it, and authorities."
        )
        self.files = tuple(files)


class CompileFailed(FxtrioError):
    """Page files have problems; ``problems`` holds all of them, by place."""

    def __init__(self, problems: Sequence[object]) -> None:
        super().__init__("\n".join(map(str, problems)))
        self.problems = tuple(problems)


class SecretMissing(FxtrioError):
    """`fx serve` was started without a key to sign with."""

    def __init__(self) -> None:
        super().__init__(
            "FX_SECRET_KEY is not set. Set it to a key that all processes and machines of "
            "this app share; 'fx secret' prints a new one. To try it here: "
            'FX_SECRET_KEY="$(fx secret)" fx serve'
        )


class BrokerMessageUnreadable(FxtrioError):
    """Something else than fxtrio publishes to the broker's channels."""

    def __init__(self, data: bytes) -> None:
        super().__init__(
            f"broker: {data[:40]!r} is no message of fxtrio. "
            "Publish through 'app.state.fx_broker', or give the app a prefix of its own."
        )
        self.data = data


class BrokerUnreachable(FxtrioError):
    """The message broker did not answer."""

    def __init__(self, place: str, what: str) -> None:
        super().__init__(
            f"{place}: the broker could not {what}. Is it running? See 'realtime.broker'."
        )
        self.place = place


class PortalNotRunning(FxtrioError):
    """`portal` was called where no app runs, or after its end."""

    def __init__(self) -> None:
        super().__init__(
            "portal(): no app of fxtrio runs here. Call it in a loader, an action, a job, "
            "or in what they start."
        )


class PortalCallCancelled(FxtrioError):
    """A call on the asyncio loop was cancelled there, and not by whoever waits for it."""

    def __init__(self, call: str) -> None:
        super().__init__(
            f"portal({call}): the call was cancelled on the asyncio loop: by itself, by a "
            "library, or because the app ends."
        )
        self.call = call


class TrioMissing(FxtrioError):
    """The app is served on another event loop than Trio's."""

    def __init__(self) -> None:
        super().__init__(
            "fxtrio: the server does not run on trio. Use 'fx serve', or "
            "'hypercorn --worker-class trio app:app'."
        )
