"""Listening sockets, and how many connections they accept."""
