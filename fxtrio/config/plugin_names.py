"""The short names that ``plugins`` may have, apart from the plugins: these import a server."""

from __future__ import annotations

BUILT_IN = {
    "auth": "fxtrio.plugins.auth:AuthPlugin",
    "jobs": "fxtrio.plugins.jobs:JobsPlugin",
    "mcp": "fxtrio.plugins.mcp:McpPlugin",
    "observe": "fxtrio.plugins.observe:ObservePlugin",
    "studio": "fxtrio.plugins.studio:StudioPlugin",
}
"""Short names of the framework's own plugins."""
