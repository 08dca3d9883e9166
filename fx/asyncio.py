"""For libraries that know asyncio alone: their calls on one loop beside the app."""

from fxtrio.asyncio_portal import portal

__all__ = ["portal"]
