"""The `fx` command."""
