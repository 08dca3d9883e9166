"""Passwords and email addresses: what may be one, and their hashes."""
