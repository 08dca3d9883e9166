"""Numbered SQL files that change the schema, each run once."""
