"""What stock Hypercorn is started with: limits that a test can wait for."""

from fxtrio.server.http1 import ServerLimits

limits = ServerLimits(
    body=200_000, body_grace=0.5, write_stall=0.5, header_time=0.8, idle_time=2, requests=200
)
h2c = True
keep_alive_timeout = 2.0
keep_alive_max_requests = 200
graceful_timeout = 1.0
ssl_handshake_timeout = 0.8
websocket_max_message_size = 1_000_000
errorlog = "-"
