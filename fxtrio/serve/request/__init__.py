"""One request: its event, hooks, proof of origin, body, reply, and the watchdog over its time.

Begin with `event`. `spool` takes the body in within bounds, `validate` makes typed arguments
of it, and `response` and `error_response` are what goes back. Knows nothing of pages.
"""
