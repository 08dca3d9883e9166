"""Files that no tool may end over: `fx check`, `build`, `format`, `lsp` and `dev` at once.

`nox -s hostile` makes random ones for ten minutes; the test takes those of `FILES`.
"""
