"""The HTTP/1.1 and WebSocket connection of `fx serve`."""
