"""WebSockets over HTTP/1.1 (RFC 6455)."""
