"""Hypercorn's HTTP/2 with limits: what `install_guard` puts in the place of its protocol.

Begin with `hypercorn_adapter`, one connection; `protocol` has its streams, `frame_rate_limit`
judges what a client costs, `send_queue` lets bodies pass as the client's windows allow.
"""
