"""Data that may arrive after the shell: a loader that still runs, and values of `defer`."""
