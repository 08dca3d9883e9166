"""What is worth a warning when a server starts. Called by `fx serve`."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING

from fxtrio.config import Config, is_named
from fxtrio.manifest import Manifest

if TYPE_CHECKING:
    from fxtrio.server.supervise.options import ServeOptions

log = logging.getLogger("fx.serve")

STANDALONE = "fxtrio.cli.default_app:make_app"
"""The app of a project that has none of its own."""


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
    from fxtrio.realtime.store_url import has_prefix  # heavy

    by_name = [key for key, url in shared.items() if not has_prefix(url)]
    if not by_name:
        return ""
    return (
        f"{' and '.join(by_name)}: apps are told apart by their name, and this one has that of "
        f"its folder, {config.name!r}. Set 'name', to the same in all processes of the app and in "
        "no other app."
    )


def warn_at_start(manifest: Manifest, config: Config, options: ServeOptions, *, root: Path) -> None:
    """Write what is to be said about a project and its options to the log of the server."""
    # Heavy: `fx --help` would wait for it.
    from fxtrio.log import open_log

    told = [channels_apart(manifest, config, options.workers)]
    if options.app == STANDALONE:  # code of an app may name it by itself
        told.append(name_of_folder(root, config))
    for warning in filter(None, told):
        open_log(options.log_form, options.log_level)
        log.warning("%s", warning)
