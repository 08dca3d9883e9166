"""A whole app under simulation: one seed is one run, step by step.

`simulate` decorates a test. For each seed it starts the app anew (`prepared_app`, `process`),
lets visitors and faults come (`world`, `faults`), runs everything in an order that follows from
the seed (`engine`), and checks what holds for every app (`checks`).
Begin with `simulate`, then `runs`. Re-exported as `fx.testing`; nothing else imports it, and
nothing is imported here, since pytest loads `pytest_plugin` wherever fxtrio is installed.
"""
