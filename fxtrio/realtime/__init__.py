"""Channels, brokers and WebSocket helpers."""
