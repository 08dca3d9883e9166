"""Sessions of requests and WebSockets, from the cookie to the revocation."""
