"""The settings of a server process, from the options of `fx serve`.

They have the names of Hypercorn's settings, which is imported only for HTTP/2 and TLS: that takes
5 ms of a start.
"""

from __future__ import annotations

import logging
import ssl
import time
from collections.abc import Sequence
from email.utils import formatdate
from functools import cached_property
from typing import TYPE_CHECKING

from fxtrio.errors import PlacedError
from fxtrio.log_limit import SERVER
from fxtrio.server.supervise.application.proxy_headers import Proxies
from fxtrio.server.supervise.logs.access_log import AccessLog
from fxtrio.server.supervise.logs.server_log import ServerLogger
from fxtrio.server.supervise.options import ServeOptions

if TYPE_CHECKING:
    from hypercorn.config import Config

_STANDARD_OUTPUT = 1


class CertificateUnusable(PlacedError):
    """A certificate, its key or the list of authorities cannot be used; see ``__cause__``."""

    remedy = "Name PEM files with a certificate, its private key, and certificate authorities"

    def __init__(self, files: Sequence[str], cause: str) -> None:
        super().__init__(f"TLS, with {', '.join(files)}", cause)


class ServerConfig:
    """The settings of one server process. Made by `make_config`."""

    def __init__(self, options: ServeOptions) -> None:
        self.limits = limits = options.limits
        self.h2c = options.h2c
        self.certfile = options.certfile
        self.keyfile = options.keyfile or options.certfile  # one file may hold both
        self.keyfile_password = options.keyfile_password
        self.ca_certs = options.ca_certs
        # Without this no client certificate is requested.
        self.verify_mode = None if options.ca_certs is None else ssl.CERT_REQUIRED
        self.proxies = Proxies(options.trusted_proxies)
        self.root_path = options.root_path.rstrip("/")
        self.server_names = list(options.server_names)
        self.errorlog = logging.getLogger(SERVER)
        self.statsd_host = options.statsd_host
        self.statsd_prefix = options.statsd_prefix
        self.access_log: AccessLog | None = None
        if options.access_log is not None:
            self.access_log = AccessLog(
                options.access_log, _STANDARD_OUTPUT, hidden=options.hidden_parameters
            )
        self.startup_timeout = options.startup
        self.shutdown_timeout = options.shutdown
        self.graceful_timeout = options.graceful
        self.ssl_handshake_timeout = limits.header_time
        self.include_server_header = False
        # What Hypercorn itself applies, to HTTP/2.
        self.keep_alive_timeout = limits.idle_time
        self.keep_alive_max_requests = limits.requests
        self.h2_max_header_list_size = limits.head
        self.websocket_max_message_size = limits.websocket_message
        self.websocket_ping_interval = limits.websocket_ping

    @cached_property
    def log(self) -> ServerLogger:
        """The log of the server."""
        if self.statsd_host is None:
            return ServerLogger(self.errorlog, self.access_log)
        # Heavy, and seldom needed.
        from fxtrio.server.supervise.logs.statsd_log import ServerStatsdLogger

        return ServerStatsdLogger(
            self.errorlog, self.access_log, host=self.statsd_host, prefix=self.statsd_prefix
        )

    def response_headers(self, _protocol: str) -> list[tuple[bytes, bytes]]:
        """Return the headers of every response, as of now."""
        return [(b"date", formatdate(time.time(), usegmt=True).encode("ascii"))]

    def create_ssl_context(self) -> ssl.SSLContext | None:
        """Return the context of TLS; None without a certificate. Raises OSError for its files."""
        return None if self.certfile is None else self.for_hypercorn().create_ssl_context()

    def for_hypercorn(self) -> Config:
        """Return the same settings as Hypercorn takes them."""
        # Heavy: see the module.
        from hypercorn.config import Config

        config = Config.from_mapping({**vars(self), "worker_class": "trio"})
        config._log = self.log  # type: ignore[assignment]  # has the methods of Hypercorn's
        return config


def make_config(options: ServeOptions) -> ServerConfig:
    """Return the config for a server with these options.

    Raises ProxyUnknown, and CertificateUnusable.
    """
    config = ServerConfig(options)
    _check_certificates(config)
    return config


def _check_certificates(config: ServerConfig) -> None:
    files_by_option = dict.fromkeys((config.certfile, config.keyfile, config.ca_certs))
    files = [name for name in files_by_option if name is not None]
    if files and config.certfile is None:
        raise CertificateUnusable(files, "there is no certificate")
    try:
        config.create_ssl_context()
    except OSError as error:  # ssl.SSLError is one, too
        raise CertificateUnusable(files, error.strerror or str(error)) from error
