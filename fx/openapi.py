"""What the OpenAPI document cannot read from the code: `documented`."""

from fxtrio.openapi.documented import documented

__all__ = ["documented"]
