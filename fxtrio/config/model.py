"""What can be set, as frozen classes. In JSON the keys are the same words in camelCase.

Times are seconds. Sizes are bytes, written as whole numbers or as text such as ``"64MiB"``.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fxtrio.config import validators
from fxtrio.config.database import DatabaseConfig
from fxtrio.config.realtime import RealtimeConfig
from fxtrio.config.route_settings import CorsConfig, RateLimitConfig, RouteMiddlewareConfig
from fxtrio.config.section import Read, Section
from fxtrio.sizes import to_bytes


class PluginConfig(Section, frozen=True, kw_only=True):
    """One entry of ``plugins``; a string is short for ``{"name": …}``."""

    name: str
    """A plugin of the framework (``auth``, ``db``) or a dotted name of your own."""

    settings: dict[str, Any] = {}
    """Handed to the plugin, which checks them."""


class CsrfConfig(Section, frozen=True, kw_only=True):
    """The ``csrf`` section; ``true`` and ``false`` are short for ``{"enabled": …}``."""

    enabled: bool = True
    """Whether unsafe requests must prove that they come from the app's own pages."""

    mode: Literal["standard", "strict"] = "standard"
    """``strict`` asks for the token as well as the origin."""

    trusted_origins: Annotated[tuple[str, ...], validators.origins] = ()
    """Other origins whose requests are welcome: ``scheme://host[:port]``."""

    exempt_paths: Annotated[tuple[str, ...], validators.url_paths] = ()
    """Paths that are not checked, and everything below them (whole segments); never with a
    segment ``.`` or ``..``."""


class SsrConfig(Section, frozen=True, kw_only=True):
    """The ``ssr`` section: rendering in Node."""

    workers: Annotated[int, validators.at_least(1)] = 1
    """Node processes for each server process (count)."""

    memo: bool = True
    """Whether HTML is cached for equal props; `MEMO = False` turns it off for one page."""

    memo_bytes: Annotated[int, Read(to_bytes), validators.at_least(0)] = 64 * 1024**2
    """Most HTML cached in each server process (bytes). Props above 64 KiB are cached when they are
    rendered for the second time."""

    memo_age: Annotated[float, validators.positive_seconds] = 60.0
    """Longest time that HTML is cached (seconds)."""

    max_pending: Annotated[int, validators.at_least(1)] = 1000
    """Renders that may wait; one more is answered with 503 (count)."""

    heap_mb: Annotated[int, validators.at_least(32)] = 512
    """Heap limit of one Node process (MiB)."""


class CacheConfig(Section, frozen=True, kw_only=True):
    """The ``cache`` section: whole responses of pages with ``CACHE``."""

    bytes: Annotated[int, Read(to_bytes), validators.at_least(0)] = 64 * 1024**2
    """Most that each server process caches; 0 turns it off (bytes)."""

    stale: Annotated[float, validators.at_least(0)] = 3600.0
    """How long a response that has had its time is sent until there is a new one (seconds)."""


class TimeoutsConfig(Section, frozen=True, kw_only=True):
    """The ``timeouts`` section. All in seconds."""

    request: Annotated[float, validators.positive_seconds] = 30.0
    """A whole request: loaders, render and response."""

    loader: Annotated[float, validators.positive_seconds] = 10.0
    """One loader; `@server(timeout=…)` sets it for one function."""

    action: Annotated[float, validators.positive_seconds] = 30.0
    """One action; `@action(timeout=…)` sets it for one function."""

    shell: Annotated[float, validators.positive_seconds] = 0.08
    """For how long a page with a `loading.fxl` waits for its loader before its shell is sent."""

    render: Annotated[float, validators.positive_seconds] = 5.0
    """One render in Node, after which its process is replaced."""

    startup: Annotated[float, validators.positive_seconds] = 60.0
    """The start of the app: its plugins, the lifespan, and the first Node processes."""

    shutdown: Annotated[float, validators.positive_seconds] = 30.0
    """The whole shutdown, `tasks.drainTimeout` included."""

    header: Annotated[float, validators.positive_seconds] = 10.0
    """From the first byte of a request to the end of its headers."""

    body: Annotated[float, validators.positive_seconds] = 10.0
    """How long a request body may come slower than 240 bytes a second."""

    keep_alive: Annotated[float, validators.positive_seconds] = 75.0
    """How long a connection stays open between two requests."""

    write: Annotated[float, validators.positive_seconds] = 30.0
    """Longest wait for a client that takes nothing of its response."""

    websocket_ping: Annotated[float, validators.positive_seconds] = 20.0
    """Between two pings to the client of an open WebSocket."""

    websocket_pong: Annotated[float, validators.positive_seconds] = 20.0
    """The answer to a ping, after which the WebSocket is cut off."""


class LimitsConfig(Section, frozen=True, kw_only=True):
    """The ``limits`` section: what clients may send, and leave unread."""

    body: Annotated[int, Read(to_bytes), validators.at_least(0)] = 10 * 1024**2
    """Largest request body, chunked ones too; 413 above it (bytes)."""

    bodies: Annotated[int, Read(to_bytes), validators.at_least(0)] = 256 * 1024**2
    """All bodies that a server process holds at the same time, and at least one; 503 above it
    (bytes)."""

    unsent: Annotated[int, Read(to_bytes), validators.at_least(1024**2)] = 32 * 1024**2
    """All responses and messages of a server process that wait for their clients to read; above
    it, clients that read too slowly are cut off, and new responses wait (bytes)."""

    messages: Annotated[int, Read(to_bytes), validators.at_least(1024**2)] = 32 * 1024**2
    """All messages of WebSockets that a server process has received, whole or in part, and no
    handler has taken; above it, those that have most for long are closed with 1013 (bytes)."""

    headers: Annotated[int, Read(to_bytes), validators.at_least(1024)] = 32 * 1024
    """Largest request line and headers together; 431 above it (bytes)."""

    header_count: Annotated[int, validators.at_least(8)] = 100
    """Most header lines of a request; 431 above it (count)."""

    target: Annotated[int, Read(to_bytes), validators.at_least(256)] = 8 * 1024
    """Longest request target, path and query; 414 above it (bytes)."""

    streams: Annotated[int, validators.at_least(1)] = 1000
    """Most responses of a server process that are streams of events; 503 above it (count)."""

    connections: Annotated[int, validators.at_least(1)] = 10_000
    """Most open connections of a server process; more wait to be accepted (count)."""

    connections_per_address: Annotated[int, validators.at_least(0)] = 0
    """The same for each client address; 0 is 1,000 for public ones, and no limit for others."""

    @property
    def all_bodies(self) -> int:
        """What all bodies of a process may have together (bytes): room for one at least."""
        return max(self.bodies, self.body)


class TasksConfig(Section, frozen=True, kw_only=True):
    """The ``tasks`` section: background work."""

    workers: Annotated[int, validators.at_least(1)] = 4
    """Jobs that run at the same time (count)."""

    capacity: Annotated[int, validators.at_least(1)] = 1000
    """Jobs that may wait; one more raises TaskQueueFull (count)."""

    drain_timeout: Annotated[float, validators.at_least(0)] = 10.0
    """How long jobs may go on after intake has stopped (seconds)."""


class JobsConfig(Section, frozen=True, kw_only=True):
    """The ``jobs`` section: durable jobs, which need a database."""

    workers: Annotated[int, validators.at_least(0)] = 4
    """Jobs that run at the same time in each server process; 0 leaves them to others (count)."""

    queues: tuple[str, ...] = ()
    """The queues from which jobs are taken; all when it is empty."""

    keep: Annotated[float, validators.positive_seconds] = 7 * 86400.0
    """How long jobs that are done stay in the table (seconds)."""

    keep_failed: Annotated[float, validators.positive_seconds] = 90 * 86400.0
    """How long jobs that have failed stay in the table (seconds)."""


HIDDEN_PARAMETERS = (
    *("token", "code", "key", "next", "state", "password", "secret", "session"),
    *("signature", "sig", "ticket", "otp", "jwt", "assertion", "auth", "credential"),
    *("apikey", "accesskey", "privatekey", "authcode", "sessionid", "sid", "passwd", "pwd", "pin"),
)
"""Query parameters that sign somebody in, such as tokens of links, by their common names."""


class ObservabilityConfig(Section, frozen=True, kw_only=True):
    """The ``observability`` section: request ids and logs."""

    enabled: bool = True
    """Whether requests have an id, in `X-Request-Id` and in log lines."""

    trust_incoming_request_id: bool = False
    """Whether a well-formed `X-Request-Id` of the client is used."""

    readiness: Annotated[tuple[str, ...], validators.parts] = validators.PARTS
    """Parts without which `/readyz` is a 503; those left out are listed there only."""

    access_log: Literal["off", "console", "json"] = "off"
    """The form of one line for each request, written by `fx serve` to standard output."""

    stall: Annotated[float, validators.positive_seconds] = 0.5
    """What holds the event loop longer is logged with its place, once (seconds)."""

    tracing: Literal["off", "otel"] = "off"
    """Whether requests and jobs are traced with OpenTelemetry; needs the extra ``otel``."""

    hidden_parameters: tuple[str, ...] = HIDDEN_PARAMETERS
    """Words of the parameters of queries whose values the access log hides."""

    errors: Annotated[str, validators.dotted_name] = ""
    """A function that is called with each defect, as ``module:function``."""

    release: str = ""
    """The version of the app for reports of defects; the id of the build when empty."""

    metrics: Annotated[str, validators.base_url] = ""
    """The path of metrics in the format of Prometheus, such as ``/metrics``; none when empty."""

    metrics_bind: Annotated[str, validators.address] = "127.0.0.1:9464"
    """Where metrics are served, apart from the app: ``host:port``."""

    metrics_guard: Annotated[str, validators.dotted_name] = ""
    """A function that decides who may read them, as ``module:function``: a route hook. With it
    the app itself serves them."""


class LlmsConfig(Section, frozen=True, kw_only=True):
    """The ``llms`` section; ``true`` and ``false`` are short for ``{"enabled": …}``."""

    enabled: bool = False
    """Whether pages have a Markdown form and the app an ``/llms.txt``."""

    auto_convert: bool = True
    """Whether HTML is converted for pages without a Markdown source of their own."""

    max_html: Annotated[int, Read(to_bytes), validators.at_least(0)] = 512 * 1024
    """Largest HTML that is converted; a larger page has no Markdown (characters)."""


class DevConfig(Section, frozen=True, kw_only=True):
    """The ``dev`` section: what holds for `fx dev` only."""

    hosts: Annotated[tuple[str, ...], validators.hosts] = ()
    """Further hosts to answer: names and addresses without a port, `.name` for all below it."""

    ignore: Annotated[tuple[str, ...], validators.git_patterns] = ()
    """Files whose changes do not matter: patterns as in `.gitignore`, with the last word."""

    console: bool = False
    """Whether browsers print the server's log lines of their own requests in their console."""

    overlay: bool = True
    """Whether what fails on a page covers it; if not, a badge in its corner counts that, too."""


class Config(Section, frozen=True, kw_only=True):
    """All settings of an app. Created by `load_config`; every value has been checked."""

    hidden = ("secret_keys",)

    name: str = ""
    """The app's name, for ``/llms.txt``, and what sets it apart from other apps on one broker;
    `load_config` falls back to the project folder's."""

    base_url: Annotated[str, Read(validators.to_base_url), validators.base_url] = ""
    """Path under which everything is served: empty, or ``/app`` without a slash at the end."""

    pages_dir: Annotated[str, validators.folder] = "pages"
    """Folder of the page files, relative to the project folder."""

    public_dir: Annotated[str, validators.folder] = "public"
    """Folder of the files served as they are, relative to the project folder."""

    lang: Annotated[str, validators.language] = "en"
    """The ``lang`` attribute of ``<html>``."""

    translate: Annotated[str, validators.dotted_name] = ""
    """A function that translates the framework's messages, as ``module:function``."""

    middleware: Annotated[tuple[str, ...], validators.dotted] = ()
    """ASGI middleware classes around the whole app, outermost first."""

    route_middleware: RouteMiddlewareConfig = RouteMiddlewareConfig()
    """Hooks around single routes."""

    plugins: tuple[PluginConfig, ...] = ()
    """Opened in this order, closed in reverse."""

    csp: Literal["report-only", "enforce", "off"] = "report-only"
    """What browsers do about breaches of the Content-Security-Policy."""

    compression: Literal["safe", "all", "off"] = "safe"
    """Which responses are compressed: what cannot tell a visitor's secret by its size, or all."""

    csrf: CsrfConfig = CsrfConfig()
    """Protection of unsafe requests."""

    cors: CorsConfig = CorsConfig()
    """Requests of other origins."""

    rate_limits: tuple[RateLimitConfig, ...] = ()
    """How many requests one client may make of a route; 429 above it."""

    rate_limit_storage: Annotated[str, validators.counts] = "memory"
    """Where requests are counted: ``memory`` of each process, or a Redis URL for all of them."""

    cache_control: Annotated[dict[str, str], validators.cache_policies] = {}
    """Route pattern, or path of a public file, to `Cache-Control` of its good responses."""

    ssr: SsrConfig = SsrConfig()
    """Rendering in Node."""

    cache: CacheConfig = CacheConfig()
    """The response cache."""

    timeouts: TimeoutsConfig = TimeoutsConfig()
    """Deadlines."""

    limits: LimitsConfig = LimitsConfig()
    """What one client may send."""

    tasks: TasksConfig = TasksConfig()
    """Background work."""

    database: DatabaseConfig = DatabaseConfig()
    """The application's own data."""

    jobs: JobsConfig = JobsConfig()
    """Durable jobs."""

    realtime: RealtimeConfig = RealtimeConfig()
    """Channels and WebSockets."""

    observability: ObservabilityConfig = ObservabilityConfig()
    """Request ids and logs."""

    dev: DevConfig = DevConfig()
    """Only for `fx dev`."""

    llms: LlmsConfig = LlmsConfig()
    """Markdown for agents."""

    openapi: bool = False
    """Whether ``/openapi.json`` describes the actions and endpoints that are open to who asks."""

    secret_keys: Annotated[tuple[str, ...], validators.secrets] = ()
    """From ``FX_SECRET_KEY``, never from the file: the first signs, all verify."""

    @property
    def is_described(self) -> bool:
        """Whether a build has the OpenAPI document: to be served, or as the list of tools."""
        return self.openapi or any(plugin.name == "mcp" for plugin in self.plugins)
