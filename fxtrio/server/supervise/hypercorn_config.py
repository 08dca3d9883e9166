"""Hypercorn's settings, and the limits of this process, from the options of `fx serve`."""

from __future__ import annotations

import logging
import ssl
from collections.abc import Sequence
from functools import partial

from hypercorn.config import Config

from fxtrio.errors import PlacedError
from fxtrio.log_limit import SERVER
from fxtrio.server.http1.limits import ServerLimits
from fxtrio.server.supervise.access_log import AccessLog, ServerLogger, ServerStatsdLogger
from fxtrio.server.supervise.application.proxy_headers import Proxies
from fxtrio.server.supervise.options import ServeOptions

_STANDARD_OUTPUT = 1


class CertificateUnusable(PlacedError):
    """A certificate, its key or the list of authorities cannot be used; see ``__cause__``."""

    def __init__(self, files: Sequence[str], cause: str) -> None:
        super().__init__(
            f"TLS, with {', '.join(files)}",
            cause,
            "Name PEM files with a certificate, its private key, and certificate authorities",
        )
        self.files = tuple(files)


class ServerConfig(Config):
    """Hypercorn's config with further settings."""

    limits = ServerLimits()
    """The limits of one client in a worker."""

    h2c = False
    """Whether clients without TLS may speak HTTP/2 at once."""

    access_log: AccessLog | None = None
    """Gets a line per request."""

    proxies = Proxies(())
    """Trusted proxies."""


def make_config(options: ServeOptions) -> ServerConfig:
    """Return the config for a server with these options.

    Raises ProxyUnknown, and CertificateUnusable.
    """
    config = ServerConfig()
    config.limits = limits = options.limits
    config.h2c = options.h2c
    config.worker_class = "trio"
    config.bind = list(options.bind)
    config.backlog = options.backlog
    config.certfile = options.certfile
    config.keyfile = options.keyfile or options.certfile  # one file may hold both
    config.keyfile_password = options.keyfile_password
    config.ca_certs = options.ca_certs
    if options.ca_certs is not None:  # without this no client certificate is requested
        config.verify_mode = ssl.CERT_REQUIRED
    config.proxies = Proxies(options.trusted_proxies)
    config.root_path = options.root_path
    config.server_names = list(options.server_names)
    config.errorlog = logging.getLogger(SERVER)
    config.loglevel = options.log_level
    config.statsd_host = options.statsd_host
    config.statsd_prefix = options.statsd_prefix
    if options.access_log is not None:
        config.access_log = AccessLog(
            options.access_log, _STANDARD_OUTPUT, hidden=options.hidden_parameters
        )
    kind = ServerLogger if options.statsd_host is None else ServerStatsdLogger
    config.logger_class = partial(kind, lines=config.access_log)  # type: ignore[assignment]  # called
    config.startup_timeout = options.startup
    config.shutdown_timeout = options.shutdown
    config.graceful_timeout = options.graceful
    config.include_server_header = False
    # What Hypercorn itself applies, to HTTP/2.
    config.keep_alive_timeout = limits.idle_time
    config.keep_alive_max_requests = limits.requests
    config.h2_max_header_list_size = limits.head
    config.websocket_max_message_size = limits.websocket_message
    config.websocket_ping_interval = limits.websocket_ping
    config.ssl_handshake_timeout = limits.header_time
    _check_certificates(config)
    return config


def _check_certificates(config: Config) -> None:
    files_by_option = dict.fromkeys((config.certfile, config.keyfile, config.ca_certs))
    files = [name for name in files_by_option if name is not None]
    if files and config.certfile is None:
        raise CertificateUnusable(files, "there is no certificate")
    try:
        config.create_ssl_context()
    except OSError as error:  # ssl.SSLError is one, too
        raise CertificateUnusable(files, error.strerror or str(error)) from error
