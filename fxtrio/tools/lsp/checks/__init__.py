"""Diagnostics of open pages, and when they are computed."""
