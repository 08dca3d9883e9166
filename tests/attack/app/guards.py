"""Who may see what: pages go by accounts, and of the endpoints one has users alone."""

from fx.runtime import route_of
from fxtrio.plugins.auth import require_user

INNER = "/api/feed"


async def pages(connection):
    """Leave endpoints to the hooks of endpoints."""
    route = route_of(connection)
    return None if route.source.endswith(".py") else await require_user(connection)


async def endpoints(connection):
    return await require_user(connection) if route_of(connection).pattern == INNER else None
