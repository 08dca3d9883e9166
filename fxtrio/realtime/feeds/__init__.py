"""Channels that application code reads in a loop. Begin with `subscribe`, the block."""
