"""What can be set, as frozen classes. In JSON the keys are the same words in camelCase.

Times are seconds. Sizes are bytes, written as whole numbers or as text such as ``"64MiB"``.
"""

from __future__ import annotations

from typing import Any, Literal

import attrs

from fxtrio.config import validators
from fxtrio.config.database import DatabaseConfig
from fxtrio.config.realtime import RealtimeConfig
from fxtrio.config.route_settings import CorsConfig, RateLimitConfig, RouteMiddlewareConfig
from fxtrio.sizes import to_bytes


@attrs.frozen(kw_only=True)
class PluginConfig:
    """One entry of ``plugins``; a string is short for ``{"name": …}``."""

    name: str
    """A plugin of the framework (``auth``, ``db``) or a dotted name of your own."""

    settings: dict[str, Any] = attrs.field(factory=dict)
    """Handed to the plugin, which checks them."""


@attrs.frozen(kw_only=True)
class CsrfConfig:
    """The ``csrf`` section; ``true`` and ``false`` are short for ``{"enabled": …}``."""

    enabled: bool = True
    """Whether unsafe requests must prove that they come from the app's own pages."""

    mode: Literal["standard", "strict"] = "standard"
    """``strict`` asks for the token as well as the origin."""

    trusted_origins: tuple[str, ...] = attrs.field(default=(), validator=validators.origins)
    """Other origins whose requests are welcome: ``scheme://host[:port]``."""

    exempt_paths: tuple[str, ...] = attrs.field(default=(), validator=validators.url_paths)
    """Paths that are not checked, and everything below them (whole segments); never with a
    segment ``.`` or ``..``."""


@attrs.frozen(kw_only=True)
class SsrConfig:
    """The ``ssr`` section: rendering in Node."""

    workers: int = attrs.field(default=1, validator=validators.at_least(1))
    """Node processes for each server process (count)."""

    memo: bool = True
    """Whether HTML is cached for equal props; `MEMO = False` turns it off for one page."""

    memo_bytes: int = attrs.field(
        default=64 * 1024**2, converter=to_bytes, validator=validators.at_least(0)
    )
    """Most HTML cached in each server process (bytes). Props above 64 KiB are cached when they are
    rendered for the second time."""

    memo_age: float = attrs.field(default=60.0, validator=validators.positive_seconds)
    """Longest time that HTML is cached (seconds)."""

    max_pending: int = attrs.field(default=1000, validator=validators.at_least(1))
    """Renders that may wait; one more is answered with 503 (count)."""

    heap_mb: int = attrs.field(default=512, validator=validators.at_least(32))
    """Heap limit of one Node process (MiB)."""


@attrs.frozen(kw_only=True)
class CacheConfig:
    """The ``cache`` section: whole responses of pages with ``CACHE``."""

    bytes: int = attrs.field(
        default=64 * 1024**2, converter=to_bytes, validator=validators.at_least(0)
    )
    """Most that each server process caches; 0 turns it off (bytes)."""

    stale: float = attrs.field(default=3600.0, validator=validators.at_least(0))
    """How long a response that has had its time is sent until there is a new one (seconds)."""


@attrs.frozen(kw_only=True)
class TimeoutsConfig:
    """The ``timeouts`` section. All in seconds."""

    request: float = attrs.field(default=30.0, validator=validators.positive_seconds)
    """A whole request: loaders, render and response."""

    loader: float = attrs.field(default=10.0, validator=validators.positive_seconds)
    """One loader; `@server(timeout=…)` sets it for one function."""

    action: float = attrs.field(default=30.0, validator=validators.positive_seconds)
    """One action; `@action(timeout=…)` sets it for one function."""

    shell: float = attrs.field(default=0.08, validator=validators.positive_seconds)
    """For how long a page with a `loading.fxl` waits for its loader before its shell is sent."""

    render: float = attrs.field(default=5.0, validator=validators.positive_seconds)
    """One render in Node, after which its process is replaced."""

    startup: float = attrs.field(default=60.0, validator=validators.positive_seconds)
    """The start of the app: its plugins, the lifespan, and the first Node processes."""

    shutdown: float = attrs.field(default=30.0, validator=validators.positive_seconds)
    """The whole shutdown, `tasks.drainTimeout` included."""

    header: float = attrs.field(default=10.0, validator=validators.positive_seconds)
    """From the first byte of a request to the end of its headers."""

    body: float = attrs.field(default=10.0, validator=validators.positive_seconds)
    """How long a request body may come slower than 240 bytes a second."""

    keep_alive: float = attrs.field(default=75.0, validator=validators.positive_seconds)
    """How long a connection stays open between two requests."""

    write: float = attrs.field(default=30.0, validator=validators.positive_seconds)
    """Longest wait for a client that takes nothing of its response."""

    websocket_ping: float = attrs.field(default=20.0, validator=validators.positive_seconds)
    """Between two pings to the client of an open WebSocket."""

    websocket_pong: float = attrs.field(default=20.0, validator=validators.positive_seconds)
    """The answer to a ping, after which the WebSocket is cut off."""


@attrs.frozen(kw_only=True)
class LimitsConfig:
    """The ``limits`` section: what clients may send, and leave unread."""

    body: int = attrs.field(
        default=10 * 1024**2, converter=to_bytes, validator=validators.at_least(0)
    )
    """Largest request body, chunked ones too; 413 above it (bytes)."""

    bodies: int = attrs.field(
        default=256 * 1024**2, converter=to_bytes, validator=validators.at_least(0)
    )
    """All bodies that a server process holds at the same time, and at least one; 503 above it
    (bytes)."""

    unsent: int = attrs.field(
        default=32 * 1024**2, converter=to_bytes, validator=validators.at_least(1024**2)
    )
    """All responses and messages of a server process that wait for their clients to read; above
    it, clients that read too slowly are cut off, and new responses wait (bytes)."""

    messages: int = attrs.field(
        default=32 * 1024**2, converter=to_bytes, validator=validators.at_least(1024**2)
    )
    """All messages of WebSockets that a server process has received, whole or in part, and no
    handler has taken; above it, those that have most for long are closed with 1013 (bytes)."""

    headers: int = attrs.field(
        default=32 * 1024, converter=to_bytes, validator=validators.at_least(1024)
    )
    """Largest request line and headers together; 431 above it (bytes)."""

    header_count: int = attrs.field(default=100, validator=validators.at_least(8))
    """Most header lines of a request; 431 above it (count)."""

    target: int = attrs.field(
        default=8 * 1024, converter=to_bytes, validator=validators.at_least(256)
    )
    """Longest request target, path and query; 414 above it (bytes)."""

    streams: int = attrs.field(default=1000, validator=validators.at_least(1))
    """Most responses of a server process that are streams of events; 503 above it (count)."""

    connections: int = attrs.field(default=10_000, validator=validators.at_least(1))
    """Most open connections of a server process; more wait to be accepted (count)."""

    connections_per_address: int = attrs.field(default=0, validator=validators.at_least(0))
    """The same for each client address; 0 is 1,000 for public ones, and no limit for others."""

    @property
    def all_bodies(self) -> int:
        """What all bodies of a process may have together (bytes): room for one at least."""
        return max(self.bodies, self.body)


@attrs.frozen(kw_only=True)
class TasksConfig:
    """The ``tasks`` section: background work."""

    workers: int = attrs.field(default=4, validator=validators.at_least(1))
    """Jobs that run at the same time (count)."""

    capacity: int = attrs.field(default=1000, validator=validators.at_least(1))
    """Jobs that may wait; one more raises TaskQueueFull (count)."""

    drain_timeout: float = attrs.field(default=10.0, validator=validators.at_least(0))
    """How long jobs may go on after intake has stopped (seconds)."""


@attrs.frozen(kw_only=True)
class JobsConfig:
    """The ``jobs`` section: durable jobs, which need a database."""

    workers: int = attrs.field(default=4, validator=validators.at_least(0))
    """Jobs that run at the same time in each server process; 0 leaves them to others (count)."""

    queues: tuple[str, ...] = ()
    """The queues from which jobs are taken; all when it is empty."""

    keep: float = attrs.field(default=7 * 86400.0, validator=validators.positive_seconds)
    """How long jobs that are done stay in the table (seconds)."""

    keep_failed: float = attrs.field(default=90 * 86400.0, validator=validators.positive_seconds)
    """How long jobs that have failed stay in the table (seconds)."""


HIDDEN_PARAMETERS = (
    *("token", "code", "key", "next", "state", "password", "secret", "session"),
    *("signature", "sig", "ticket", "otp", "jwt", "assertion", "auth", "credential"),
    *("apikey", "accesskey", "privatekey", "authcode", "sessionid", "sid", "passwd", "pwd", "pin"),
)
"""Query parameters that sign somebody in, such as tokens of links, by their common names."""


@attrs.frozen(kw_only=True)
class ObservabilityConfig:
    """The ``observability`` section: request ids and logs."""

    enabled: bool = True
    """Whether requests have an id, in `X-Request-Id` and in log lines."""

    trust_incoming_request_id: bool = False
    """Whether a well-formed `X-Request-Id` of the client is used."""

    readiness: tuple[str, ...] = attrs.field(default=validators.PARTS, validator=validators.parts)
    """Parts without which `/readyz` is a 503; those left out are listed there only."""

    access_log: Literal["off", "console", "json"] = "off"
    """The form of one line for each request, written by `fx serve` to standard output."""

    stall: float = attrs.field(default=0.5, validator=validators.positive_seconds)
    """What holds the event loop longer is logged with its place, once (seconds)."""

    tracing: Literal["off", "otel"] = "off"
    """Whether requests and jobs are traced with OpenTelemetry; needs the extra ``otel``."""

    hidden_parameters: tuple[str, ...] = HIDDEN_PARAMETERS
    """Words of the parameters of queries whose values the access log hides."""

    errors: str = attrs.field(default="", validator=validators.dotted_name)
    """A function that is called with each defect, as ``module:function``."""

    release: str = ""
    """The version of the app for reports of defects; the id of the build when empty."""

    metrics: str = attrs.field(default="", validator=validators.base_url)
    """The path of metrics in the format of Prometheus, such as ``/metrics``; none when empty."""

    metrics_bind: str = attrs.field(default="127.0.0.1:9464", validator=validators.address)
    """Where metrics are served, apart from the app: ``host:port``."""

    metrics_guard: str = attrs.field(default="", validator=validators.dotted_name)
    """A function that decides who may read them, as ``module:function``: a route hook. With it
    the app itself serves them."""


@attrs.frozen(kw_only=True)
class LlmsConfig:
    """The ``llms`` section; ``true`` and ``false`` are short for ``{"enabled": …}``."""

    enabled: bool = False
    """Whether pages have a Markdown form and the app an ``/llms.txt``."""

    auto_convert: bool = True
    """Whether HTML is converted for pages without a Markdown source of their own."""

    max_html: int = attrs.field(
        default=512 * 1024, converter=to_bytes, validator=validators.at_least(0)
    )
    """Largest HTML that is converted; a larger page has no Markdown (characters)."""


@attrs.frozen(kw_only=True)
class DevConfig:
    """The ``dev`` section: what holds for `fx dev` only."""

    hosts: tuple[str, ...] = attrs.field(default=(), validator=validators.hosts)
    """Further hosts to answer: names and addresses without a port, `.name` for all below it."""

    ignore: tuple[str, ...] = attrs.field(default=(), validator=validators.git_patterns)
    """Files whose changes do not matter: patterns as in `.gitignore`, with the last word."""

    console: bool = False
    """Whether browsers print the server's log lines of their own requests in their console."""

    overlay: bool = True
    """Whether what fails on a page covers it; if not, a badge in its corner counts that, too."""


@attrs.frozen(kw_only=True)
class Config:
    """All settings of an app. Made by `load_config`; every value has been checked."""

    name: str = ""
    """The app's name, for ``/llms.txt``, and what sets it apart from other apps on one broker;
    `load_config` falls back to the project folder's."""

    base_url: str = attrs.field(
        default="", converter=validators.to_base_url, validator=validators.base_url
    )
    """Path under which everything is served: empty, or ``/app`` without a slash at the end."""

    pages_dir: str = attrs.field(default="pages", validator=validators.folder)
    """Folder of the page files, relative to the project folder."""

    public_dir: str = attrs.field(default="public", validator=validators.folder)
    """Folder of the files served as they are, relative to the project folder."""

    lang: str = attrs.field(default="en", validator=validators.language)
    """The ``lang`` attribute of ``<html>``."""

    translate: str = attrs.field(default="", validator=validators.dotted_name)
    """A function that translates the framework's messages, as ``module:function``."""

    middleware: tuple[str, ...] = attrs.field(default=(), validator=validators.dotted)
    """ASGI middleware classes around the whole app, outermost first."""

    route_middleware: RouteMiddlewareConfig = attrs.field(factory=RouteMiddlewareConfig)
    """Hooks around single routes."""

    plugins: tuple[PluginConfig, ...] = ()
    """Opened in this order, closed in reverse."""

    csp: Literal["report-only", "enforce", "off"] = "report-only"
    """What browsers do about breaches of the Content-Security-Policy."""

    compression: Literal["safe", "all", "off"] = "safe"
    """Which responses are compressed: what cannot tell a visitor's secret by its size, or all."""

    csrf: CsrfConfig = attrs.field(factory=CsrfConfig)
    """Protection of unsafe requests."""

    cors: CorsConfig = attrs.field(factory=CorsConfig)
    """Requests of other origins."""

    rate_limits: tuple[RateLimitConfig, ...] = ()
    """How many requests one client may make of a route; 429 above it."""

    rate_limit_storage: str = attrs.field(default="memory", validator=validators.counts)
    """Where requests are counted: ``memory`` of each process, or a Redis URL for all of them."""

    cache_control: dict[str, str] = attrs.field(factory=dict, validator=validators.cache_policies)
    """Route pattern, or path of a public file, to `Cache-Control` of its good responses."""

    ssr: SsrConfig = attrs.field(factory=SsrConfig)
    """Rendering in Node."""

    cache: CacheConfig = attrs.field(factory=CacheConfig)
    """The response cache."""

    timeouts: TimeoutsConfig = attrs.field(factory=TimeoutsConfig)
    """Deadlines."""

    limits: LimitsConfig = attrs.field(factory=LimitsConfig)
    """What one client may send."""

    tasks: TasksConfig = attrs.field(factory=TasksConfig)
    """Background work."""

    database: DatabaseConfig = attrs.field(factory=DatabaseConfig)
    """The application's own data."""

    jobs: JobsConfig = attrs.field(factory=JobsConfig)
    """Durable jobs."""

    realtime: RealtimeConfig = attrs.field(factory=RealtimeConfig)
    """Channels and WebSockets."""

    observability: ObservabilityConfig = attrs.field(factory=ObservabilityConfig)
    """Request ids and logs."""

    dev: DevConfig = attrs.field(factory=DevConfig)
    """Only for `fx dev`."""

    llms: LlmsConfig = attrs.field(factory=LlmsConfig)
    """Markdown for agents."""

    openapi: bool = False
    """Whether ``/openapi.json`` describes the actions and endpoints that are open to who asks."""

    secret_keys: tuple[str, ...] = attrs.field(default=(), repr=False, validator=validators.secrets)
    """From ``FX_SECRET_KEY``, never from the file: the first signs, all verify."""

    @property
    def is_described(self) -> bool:
        """Whether a build has the OpenAPI document: to be served, or as the list of tools."""
        return self.openapi or any(plugin.name == "mcp" for plugin in self.plugins)
