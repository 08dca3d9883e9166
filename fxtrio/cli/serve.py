"""`fx serve`: serve a build."""

from __future__ import annotations

import gc
import logging
import os
from collections.abc import Callable
from contextlib import ExitStack
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from fxtrio.cli.output import app_option, find_app, root_option
from fxtrio.cli.standard_streams import open_closed_descriptors
from fxtrio.config import Config, is_named, load_config, load_env_files
from fxtrio.errors import PlacedError
from fxtrio.manifest import FOLDERS, Manifest, ManifestUnreadable, load_manifest
from fxtrio.node import NodeMissing
from fxtrio.server.supervise.garbage import collect_seldom
from fxtrio.server.supervise.listening.tcp import wrong_address
from fxtrio.ssr.process.launch import Launch, choose_launch
from fxtrio.ssr.process.prestart import prestart
from fxtrio.ssr.process.sandbox import close_memory

if TYPE_CHECKING:
    from fxtrio.server.supervise.options import ServeOptions

if TYPE_CHECKING:
    from fxtrio.server.http1.limits import ServerLimits
    from fxtrio.server.supervise.options import ServeOptions

_SHORTEST_GRACE = 1.0
_ALL_PERMISSIONS = 0o777
_CLOSING = 2.0
"""Seconds of the shutdown that are left for plugins and SSR workers to close."""


log = logging.getLogger("fx.serve")

STANDALONE = "fxtrio.cli.default_app:make_app"
"""The app of a project that has none of its own."""

_EXPLAIN = "fxtrio.cli.import_check.import_failure:start_failed"
"""Says why an app cannot be imported, in the process that tries it."""


class SecretMissing(PlacedError):
    """`fx serve` was started without a key to sign with."""

    remedy = (
        "Set it to a key that all processes and machines of this app share; 'fx secret' prints a "
        """new one. To try it here, run 'FX_SECRET_KEY="$(fx secret)" fx serve'"""
    )

    def __init__(self) -> None:
        super().__init__("", "FX_SECRET_KEY is not set")


@click.command
@root_option
@app_option
@click.option("--factory", is_flag=True, help="--app names a function that returns the app.")
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8000,
    show_default=True,
    help="The port to listen on; 0 for any free port.",
)
@click.option(
    "--bind",
    multiple=True,
    metavar="ADDRESS",
    callback=lambda _, __, addresses: _addresses(addresses),
    help="In place of --host and --port: host:port, unix:path, fd://3 or systemd. Repeatable.",
)
@click.option(
    "--workers",
    default="1",
    show_default=True,
    callback=lambda _, __, text: _workers(text),
    help="Worker processes; 'auto' is one per core, always with a supervisor.",
)
@click.option(
    "--umask",
    metavar="OCTAL",
    callback=lambda _, __, text: _umask(text),
    help="Permissions to remove from a unix socket: 007 leaves user and group.",
)
@click.option("--certfile", type=click.Path(exists=True), help="Certificate chain: turns TLS on.")
@click.option(
    "--keyfile",
    type=click.Path(exists=True),
    help="Its private key, if not in the certificate file.",
)
@click.option(
    "--ca-certs",
    type=click.Path(exists=True),
    help="Require client certificates from these authorities.",
)
@click.option(
    "--h2c",
    is_flag=True,
    help="Allow HTTP/2 without TLS by prior knowledge, for a proxy that uses it.",
)
@click.option(
    "--proxy-headers",
    "trusted_proxies",
    multiple=True,
    metavar="ADDRESSES",
    callback=lambda _, __, texts: _proxies(texts),
    help="Trust X-Forwarded-For and -Proto of these: 10.0.0.0/8,unix. Repeatable.",
)
@click.option(
    "--server-name", "server_names", multiple=True, help="A host to respond to. Repeatable."
)
@click.option("--root-path", default="", help="The path below which a proxy serves the app.")
@click.option(
    "--root-path-stripped",
    is_flag=True,
    help="The proxy removes that path from the URLs of requests.",
)
@click.option(
    "--access-log",
    type=click.Choice(["off", "console", "json"]),
    help="The format of the access log.  [default: the setting]",
)
@click.option(
    "--log-level",
    type=click.Choice(["DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"], case_sensitive=False),
    default="INFO",
    show_default=True,
    help="The level of the log.",
)
@click.option(
    "--max-requests", type=click.IntRange(min=1), help="Replace a process after this many requests."
)
@click.option(
    "--max-requests-jitter",
    type=click.IntRange(min=0),
    default=0,
    help="Add a random number up to this.",
)
def command(root: Path, app: str | None, **flags: Any) -> None:
    """Serve the build of 'fx build'.

    With --app and no build it serves any ASGI application.

    FX_SECRET_KEY must be set; 'fx secret' prints a key. After SIGTERM or Ctrl-C, requests
    finish and jobs drain before the server exits.
    """
    open_closed_descriptors()
    if flags["max_requests_jitter"] and flags["max_requests"] is None:
        raise click.UsageError("--max-requests-jitter has no meaning without --max-requests.")
    if flags["root_path_stripped"] and not flags["root_path"].strip("/"):
        raise click.UsageError("--root-path-stripped has no meaning without --root-path.")
    load_env_files(root)
    config = load_config(root)
    build = root / FOLDERS["production"]
    manifest = None
    if app is None or build.exists():  # else it is any ASGI application
        manifest = _load_build(build, config)
    os.environ.setdefault("FX_PROJECT", str(root))
    alone = flags["workers"] == 1 and flags["max_requests"] is None
    with ExitStack() as stack:
        ready: Callable[[], object] | None = None
        if manifest and app is None and alone:
            launch = _launch_of(build, manifest, config)
            if launch is not None:
                ready = stack.enter_context(prestart(launch, config.ssr.workers)).close
        if manifest is None or manifest.mode == "production":
            close_memory()  # also where this process only watches over others
        # The processes that render start in the meantime.
        serve = _import_server(with_app=manifest is not None and alone)
        options = serve_options(config, root, find_app(root, app), **flags)
        if manifest is not None:
            warn_at_start(manifest, config, options, root=root)
        raise SystemExit(serve(options, ready=ready))


def _launch_of(build: Path, manifest: Manifest, config: Config) -> Launch | None:
    """Return how Node is started; None without Node for a build that needs none."""
    try:
        return choose_launch(build, manifest, config)
    except NodeMissing:
        if not manifest.is_static:
            raise
        return None


def _import_server(*, with_app: bool) -> Callable[..., int]:
    """Return the `serve` of `supervise.start`; ``with_app`` also imports what apps need.

    No garbage is collected meanwhile, and no collection looks at the modules later: what
    imports make stays.
    """
    gc.disable()
    try:
        # Heavy: see `command`.
        from fxtrio.server.supervise.start import serve

        if with_app:
            import fxtrio.app  # noqa: F401  # the project's own modules do
    finally:
        gc.enable()
    collect_seldom()
    return serve


def _load_build(build: Path, config: Config) -> Manifest:
    """Return the manifest of the build. Raises everything that is missing for it, together."""
    missing: list[Exception] = [] if config.secret_keys else [SecretMissing()]
    manifest = None
    try:
        manifest = load_manifest(build)
    except ManifestUnreadable as error:
        missing.insert(0, error)
    if manifest is None or missing:
        raise ExceptionGroup("the app cannot be served yet", missing)
    return manifest


def _workers(text: str) -> int | Literal["auto"]:
    if text == "auto":
        return "auto"
    if not text.isdecimal() or not int(text):
        raise click.BadParameter(f"{text!r} is not above 0 and not 'auto'.")
    return int(text)


def _addresses(texts: tuple[str, ...]) -> tuple[str, ...]:
    for text in texts:
        wrong = wrong_address(text)
        if wrong:
            raise click.BadParameter(f"{text!r}: {wrong}.")
    return texts


def _umask(text: str | None) -> int | None:
    if text is None:
        return None
    if not text or set(text) - set("01234567") or int(text, 8) > _ALL_PERMISSIONS:
        raise click.BadParameter(f"{text!r} is no octal number such as 007.")
    return int(text, 8)


def _proxies(texts: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names of lists that are separated by commas."""
    return tuple(name.strip() for text in texts for name in text.split(",") if name.strip())


def serve_options(
    config: Config,
    root: Path,
    app: str,
    *,
    host: str,
    port: int,
    bind: tuple[str, ...],
    workers: int | Literal["auto"],
    access_log: Literal["off", "console", "json"] | None,
    log_level: str,
    factory: bool = False,
    **others: Any,
) -> ServeOptions:
    """Return the options of the server: those of the command, else those of the settings."""
    # Heavy: see `command`.
    from fxtrio.server.supervise.options import ServeOptions, count_cores

    host_text = f"[{host}]" if ":" in host else host
    form = access_log or config.observability.access_log
    shutdown = config.timeouts.shutdown
    return ServeOptions(
        app=app or STANDALONE,
        factory=factory or not app,
        app_dir=str(root),
        explain=_EXPLAIN,
        bind=bind or (f"{host_text}:{port}",),
        workers=count_cores() if workers == "auto" else workers,
        watched=workers == "auto",
        access_log=None if form == "off" else form,
        hidden_parameters=config.observability.hidden_parameters,
        log_level=log_level.upper(),
        startup=config.timeouts.startup,
        shutdown=shutdown,
        graceful=max(_SHORTEST_GRACE, shutdown - config.tasks.drain_timeout - _CLOSING),
        limits=server_limits(config),
        **others,
    )


def server_limits(config: Config) -> ServerLimits:
    """Return what one client may ask of a server process.

    The app answers bodies above `limits.body`, or the limit of an action, itself, in the
    shape of the endpoint; the server's own limit is for what does not even reach it.
    """
    # Heavy: see `command`.
    from fxtrio.server.http1.limits import ServerLimits

    limits, timeouts = config.limits, config.timeouts
    body = ServerLimits().body
    return ServerLimits(
        request_line=limits.target,
        head=limits.headers,
        headers=limits.header_count,
        header_time=timeouts.header,
        body=body if body is None else max(body, limits.all_bodies),
        body_grace=timeouts.body,
        idle_time=timeouts.keep_alive,
        write_stall=timeouts.write,
        connections=limits.connections,
        connections_per_address=limits.connections_per_address or None,
        websocket_message=config.realtime.max_message,
        websocket_ping=None if timeouts.websocket_ping == inf else timeouts.websocket_ping,
        websocket_pong=timeouts.websocket_pong,
    )


def channels_apart(manifest: Manifest, config: Config, workers: int) -> str:
    """Return a warning about channels that reach only a part of their subscribers; "" for none.

    A channel of the memory broker has the connections of one process of ``workers``.
    """
    pages = [source for source, module in manifest.modules.items() if module.websocket]
    if workers == 1 or not pages or config.realtime.broker != "memory":
        return ""
    return (
        f"{pages[0]}: it serves WebSockets, in {workers} processes, and the memory broker reaches "
        "the connections of one of them. For channels set 'realtime.broker' to a URL of Redis or "
        "PostgreSQL, or serve with one process."
    )


def name_of_folder(root: Path, config: Config) -> str:
    """Return a warning about an app that has the name of its folder on a shared store, or ""."""
    stores = {"realtime.broker": config.realtime.broker}
    if config.rate_limits:
        stores["rateLimitStorage"] = config.rate_limit_storage
    shared = {key: url for key, url in stores.items() if url != "memory"}
    if not shared or is_named(root, config):
        return ""
    from fxtrio.realtime.stores.store_url import has_prefix  # heavy

    by_name = [key for key, url in shared.items() if not has_prefix(url)]
    if not by_name:
        return ""
    return (
        f"{' and '.join(by_name)}: apps are distinguished by their name, and this one has that of "
        f"its folder, {config.name!r}. Set 'name', to the same in all processes of the app and in "
        "no other app."
    )


def warn_at_start(manifest: Manifest, config: Config, options: ServeOptions, *, root: Path) -> None:
    """Log warnings about a project and its options."""
    # Heavy: `fx --help` would wait for it.
    from fxtrio.log import open_log

    warnings = [channels_apart(manifest, config, options.workers)]
    if options.app == STANDALONE:  # code of an app may name it by itself
        warnings.append(name_of_folder(root, config))
    for warning in filter(None, warnings):
        open_log(options.log_format, options.log_level)
        log.warning("%s", warning)
