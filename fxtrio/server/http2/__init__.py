"""Hypercorn's HTTP/2 with limits: `install_guard` replaces its protocol by this one.

Begin with `hypercorn_adapter`, one connection; `protocol` has its streams, `frame_rate_limit`
limits a client's cost, `send_queue` sends bodies as the client's windows allow.
"""
