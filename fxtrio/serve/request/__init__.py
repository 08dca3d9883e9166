"""One request: its event, hooks, proof of origin, body, reply, and the watchdog over its time."""
