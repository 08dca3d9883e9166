"""A page's own loader that may still run while the shell is sent."""

from __future__ import annotations

import msgspec
import trio

from fxtrio.serve.pages.functions.server_functions import LoaderCode
from fxtrio.serve.pages.loaders import Loaded, Outcome, load
from fxtrio.serve.pages.page import PageEvent


class DeferredLoader(msgspec.Struct, eq=False):
    """A running loader, for which a `loading.fxl` can be rendered."""

    loader: LoaderCode
    outcome: Outcome | None = None
    """Its outcome; None while it runs."""

    done: trio.Event = msgspec.field(default_factory=trio.Event)

    async def run(self, page: PageEvent) -> None:
        """Run it in the page's nursery: cancelling the page cancels it."""
        self.outcome = await load([self.loader], page.request, page=self.loader.source)
        self.done.set()

    async def wait_joined(self, early: Loaded) -> Outcome:
        """Wait for it, and return its outcome merged with the values of the layouts' loaders."""
        await self.done.wait()
        if isinstance(self.outcome, Loaded):
            return Loaded({**early.values, **self.outcome.values}, self.outcome.status)
        assert self.outcome is not None  # `run` sets it first
        return self.outcome


def deferred_loader(page: PageEvent) -> DeferredLoader | None:
    """Return the page's loader if the shell can be sent without it."""
    plan = page.target.plan
    inner = plan.inner
    if inner.loader is None or inner.head is not None or not plan.view.defers:
        return None
    return DeferredLoader(inner.loader)
