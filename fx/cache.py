"""Cached responses: make pages with ``CACHE`` load anew."""

from fxtrio.cache import revalidate, tags

__all__ = ["revalidate", "tags"]
