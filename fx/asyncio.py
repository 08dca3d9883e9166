"""For libraries that know asyncio alone: their calls on one loop beside the app."""

from fxtrio.portal import portal

__all__ = ["portal"]
