"""Processes that serve an ASGI application: what the command `fx serve` runs."""
