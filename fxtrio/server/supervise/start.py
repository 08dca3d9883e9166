"""Serves an application until a signal: the entry point of `fx serve`."""

from __future__ import annotations

from collections.abc import Callable

import trio

from fxtrio.server.supervise.application.proxy_headers import ProxyUnknown
from fxtrio.server.supervise.hypercorn_config import CertificateUnusable, make_config
from fxtrio.server.supervise.listening.binding import open_sockets
from fxtrio.server.supervise.listening.tcp import BindFailed
from fxtrio.server.supervise.options import ServeOptions
from fxtrio.server.supervise.server_process import ParentInterface, report_failure, serve_here
from fxtrio.server.supervise.systemd import notify


def serve(options: ServeOptions, *, ready: Callable[[], object] | None = None) -> int:
    """Serve until SIGTERM or SIGINT, and return the exit code.

    ``ready`` is called once this process serves requests; never if workers serve.

    0 after a graceful shutdown; 1 if an address or a certificate cannot be used, the
    application fails at startup or later, or the shutdown times out; 130 after a second
    SIGINT. SIGHUP starts a rolling restart if there are several workers.
    """
    try:
        make_config(options)  # before anything is opened: reports invalid options once
        with open_sockets(options) as sockets:
            if options.supervised:
                # Heavy, and a single process has no supervisor.
                from fxtrio.server.supervise.supervisor import Supervisor

                return trio.run(Supervisor(options, sockets).run)

            def announce(addresses: list[str]) -> None:
                if ready is not None:
                    ready()
                notify("READY=1")

            around = ParentInterface(
                ready=announce,
                stopping=lambda: notify("STOPPING=1"),
            )
            return serve_here(options, sockets, around)
    except (BindFailed, CertificateUnusable, ProxyUnknown) as error:
        return report_failure(options, str(error), plain=True)
