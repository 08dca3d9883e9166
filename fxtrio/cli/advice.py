"""What is worth a warning when a server starts. Called by `fx serve`."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from fxtrio.config import Config
from fxtrio.manifest import Manifest

if TYPE_CHECKING:
    from fxtrio.supervise.options import ServeOptions

log = logging.getLogger("fx.serve")


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


def warn_at_start(manifest: Manifest, config: Config, options: ServeOptions) -> None:
    """Write what is to be said about a project and its options to the log of the server."""
    # Heavy: `fx --help` would wait for it.
    from fxtrio.supervise.log import open_log

    told = channels_apart(manifest, config, options.workers)
    if told:
        open_log(options.log_form, options.log_level)
        log.warning("%s", told)
