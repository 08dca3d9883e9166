"""Actions: `POST {base}/api/__actions/{page_path}/{name}`, answered as JSON, or to a plain form.

Those at paths without parameters are found here when a site is served;
`fxtrio.serve.actions.answer` answers all of them.
"""

from __future__ import annotations

from collections.abc import Awaitable

import msgspec

from fxtrio.serve.actions.lookup import NamedAction, named_actions
from fxtrio.serve.pages.resources import Running
from fxtrio.serve.pages.site import Site
from fxtrio.serve.request.event import RequestEvent
from fxtrio.serve.request.response.response import Answer


class SiteAction(msgspec.Struct, frozen=True, eq=False):
    """An action at a path without parameters: what all its calls share, found once."""

    site: Site
    found: NamedAction

    def is_named_by(self, event: RequestEvent) -> bool:
        """Whether a request whose path is that of this action is for it.

        An encoded slash is part of a segment, and leads elsewhere.
        """
        return event.raw_path is None

    # Without a frame of its own, which each request would pay for.
    def answer(
        self, running: Running, event: RequestEvent, params: dict[str, str]
    ) -> Awaitable[Answer]:
        """Return the response, as `answer_action` does."""
        # With its imports it takes milliseconds, and a server may begin with a page.
        from fxtrio.serve.actions.answer import answer_found

        return answer_found(self.site, running, event, self.found)


def site_actions(site: Site) -> dict[str, SiteAction]:
    """Return the actions at paths without parameters, by these."""
    return {path: SiteAction(site, found) for path, found in named_actions(site)}
