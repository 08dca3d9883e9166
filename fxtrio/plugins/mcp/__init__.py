"""The plugin `mcp`: actions with ``tool=True``, for agents, by the Model Context Protocol.

It needs the extra ``fxtrio[mcp]``. Begin with `plugin`; `tools` reads which tools there are from
the OpenAPI document, `calls` makes the requests, and `sdk` speaks the protocol.
"""

from fxtrio.plugins.mcp.plugin import McpPlugin as McpPlugin
