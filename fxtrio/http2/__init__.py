"""Hypercorn's HTTP/2 with limits: what `install_guard` puts in the place of its protocol."""
