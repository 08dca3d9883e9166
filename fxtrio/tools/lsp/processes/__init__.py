"""Processes that the language server starts and asks."""
