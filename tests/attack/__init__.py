"""A standing attack on a real app: damaged requests of every kind, and what must hold meanwhile.

``nox -s attack`` runs it for ten minutes, ``python -m tests.attack --help`` has the options.
"""
