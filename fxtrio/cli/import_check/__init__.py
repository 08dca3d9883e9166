"""What `fx check` learns by importing a project: a child that does, and what it reports.

Begin with `process`, which runs the `child`; `messages` is what they say to each other.
"""
