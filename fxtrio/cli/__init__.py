"""The `fx` command: one file for each of its commands."""

from fxtrio.cli.group import main

__all__ = ["main"]
