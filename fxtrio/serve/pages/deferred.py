"""A page's own loader that may still run when the rest of the page is on its way."""

from __future__ import annotations

import attrs
import trio

from fxtrio.serve.pages.loaders import Loaded, Outcome, load
from fxtrio.serve.pages.page import PageEvent
from fxtrio.serve.pages.server_functions import LoaderCode


@attrs.define(eq=False)
class LateLoader:
    """A loader under way, for which a `loading.fxl` can stand in."""

    loader: LoaderCode
    outcome: Outcome | None = None
    """What it came to; None while it runs."""

    done: trio.Event = attrs.field(factory=trio.Event)

    async def run(self, page: PageEvent) -> None:
        """Run it. The nursery is the page's: what ends the page ends it."""
        self.outcome = await load([self.loader], page.request, page=self.loader.source)
        self.done.set()

    async def wait_joined(self, early: Loaded) -> Outcome:
        """Wait for it, and return it together with what the layouts' loaders gave."""
        await self.done.wait()
        if isinstance(self.outcome, Loaded):
            return Loaded({**early.values, **self.outcome.values}, self.outcome.status)
        assert self.outcome is not None  # `run` sets it first
        return self.outcome


def late_loader(page: PageEvent) -> LateLoader | None:
    """Return the page's loader when the shell can do without it."""
    plan = page.target.plan
    inner = plan.inner
    if inner.loader is None or inner.head is not None or not plan.view.defers:
        return None
    return LateLoader(inner.loader)
