"""What the OpenAPI document cannot read from the code: `documented`."""

from fxtrio.tools.openapi.documented import documented

__all__ = ["documented"]
