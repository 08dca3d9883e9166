"""What `fx check` learns by importing a project: a child that does, and what it reports."""
