"""Projects of other frameworks → projects of this one, as far as that is mechanical.

Begin with `conversion`: the files to write, move and remove, which `applying` does in one go.
`from_pyxle` and `from_next` plan it; each rewrites code by its syntax tree, and leaves alone what
it does not understand. Nothing else in the package imports this one, but for its two commands.
"""
