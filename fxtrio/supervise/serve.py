"""Serves an application until told to stop: what the command `fx serve` calls."""

from __future__ import annotations

import sys

import trio

from fxtrio.errors import BindFailed
from fxtrio.supervise.notify import notify
from fxtrio.supervise.options import ServeOptions
from fxtrio.supervise.process import FAILED, Surroundings, serve_here
from fxtrio.supervise.sockets import open_sockets
from fxtrio.supervise.supervisor import Supervisor


def serve(options: ServeOptions) -> int:
    """Serve until SIGTERM or SIGINT, and return the exit code.

    0 after an orderly end; 1 when an address cannot be used, the application
    cannot start or breaks off, or a limit of the shutdown passed; 130 after a
    second SIGINT. SIGHUP replaces workers one by one, where there are several.
    """
    try:
        with open_sockets(options) as sockets:
            if options.supervised:
                return trio.run(Supervisor(options, sockets).run)
            around = Surroundings(
                ready=lambda addresses: notify("READY=1"),
                stopping=lambda: notify("STOPPING=1"),
            )
            return serve_here(options, sockets, around)
    except BindFailed as error:
        print(error, file=sys.stderr)
        return FAILED
