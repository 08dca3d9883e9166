"""Hypercorn's HTTP/2 with limits: what `install_guard` puts in the place of its protocol.

Begin with `hypercorn`, one connection; `protocol` has its streams, `gauge` judges what a
client costs, `outgoing` lets bodies pass as the client's windows allow.
"""
