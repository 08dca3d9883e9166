"""Kept responses: make pages with ``CACHE`` load anew."""

from fxtrio.cache import revalidate

__all__ = ["revalidate"]
