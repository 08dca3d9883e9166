"""A module that raises when it is imported."""

raise LookupError("no such table")
