"""Studio's pages, and the stream of events that tells browsers to look again.

`fx dev` and the plugin serve them, each in its own way. Nothing is stored for a browser, and
nothing is written for a request.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from urllib.parse import parse_qsl

import trio
from starlette.types import Receive, Scope, Send

from fxtrio.plugins.admin_page import policy
from fxtrio.plugins.studio import html
from fxtrio.plugins.studio.sections import DEVELOPMENT, OF_ANY_APP, SECTIONS, PageContext
from fxtrio.plugins.studio.timings import Timings

WATCHERS = 20
"""Browsers that are notified of changes at the same time; further ones get 503 (count)."""

TOO_MANY = "Too many browsers watch Studio.\n"
"""What further ones read."""

PAUSE = 1.0
"""Between two looks at whether there is something new (seconds)."""

POLICY = policy(html.STYLE)
_SILENCE = 5  # looks after which a page is shown again in any case


async def render_page(name: str, context: PageContext, path: str) -> str | None:
    """Return a page, whose links are below ``path``; None if there is no such one."""
    titles = {
        one: title
        for one, (title, _) in SECTIONS.items()
        if (context.development or one not in DEVELOPMENT)
        and (context.application is not None or one in OF_ANY_APP)
    }
    if name not in titles:
        return None
    content = await SECTIONS[name][1](context)
    config = None if context.application is None else context.app.config
    home = f"{config.base_url}/" if config is not None else "/"
    app = config.name if config is not None else ""
    return html.page(name, content, titles=titles, path=path, home=home, app=app)


class Watchers:
    """The browsers that are notified of changes; a process has one for its Studio."""

    def __init__(self, timings: Timings) -> None:
        self._timings = timings
        self._count = 0

    @property
    def is_full(self) -> bool:
        """Whether there are `WATCHERS`; further ones are rejected."""
        return self._count >= WATCHERS

    async def send_events(
        self, receive: Receive, send: Send, pause: Callable[[], Awaitable[bool]]
    ) -> None:
        """Respond to one more browser with events, until it has left.

        ``pause`` waits for `PAUSE`, and returns whether the stream may go on.
        """
        self._count += 1
        try:
            await _send_events(receive, send, self._timings, pause)
        finally:
            self._count -= 1


async def _send_events(
    receive: Receive, send: Send, timings: Timings, pause: Callable[[], Awaitable[bool]]
) -> None:
    """Respond with an event whenever pages may have changed."""

    async def watch() -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        nursery.cancel_scope.cancel("the browser has left")

    headers = [
        (b"content-type", b"text/event-stream"),
        (b"cache-control", b"no-store"),
        (b"x-accel-buffering", b"no"),
    ]
    async with trio.open_nursery() as nursery:
        nursery.start_soon(watch, name="studio.watch")
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b"retry: 2000\n\n", "more_body": True})
        seen, quiet = timings.ended, 0
        while await pause():
            quiet += 1
            if timings.ended != seen or quiet == _SILENCE:
                seen, quiet = timings.ended, 0
                event = b"data: %d\n\n" % seen
                await send({"type": "http.response.body", "body": event, "more_body": True})
        nursery.cancel_scope.cancel("the server stops")
    await send({"type": "http.response.body", "body": b"", "more_body": False})


def query_of(scope: Scope) -> dict[str, str]:
    """Return the query of a request."""
    return dict(parse_qsl(scope.get("query_string", b"").decode("latin-1"), max_num_fields=20))
