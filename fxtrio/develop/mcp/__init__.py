"""Tools for agents that work on a project, by the Model Context Protocol.

`fx dev` serves them at `/__fx/mcp` (`endpoint`), `fx mcp` by its standard streams. They need the
extra ``fxtrio[mcp]``; without it nothing imports this folder's `sdk`. Begin with `tools`.
"""
