"""What runs in this process, under whom, and what holds the event loop.

Begin with `tree`, which walks trio's tasks; `observer` answers `fx tree` from a thread, and
`stalls` names what holds the loop. Nothing of the runtime needs this part.
"""
