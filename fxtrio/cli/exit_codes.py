"""Exit codes of the `fx` command that are not 0, 1 and 2."""

INTERRUPTED = 130
"""After Ctrl-C, as shells have it."""
