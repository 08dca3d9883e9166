"""`.fxl` files in; a Python module, a JSX module and a manifest entry out.

Begin with `build`, which does everything in order; `project` is all of it that needs no
bundler, and `halves` the first look at one file. Shares the manifest with what serves,
and nothing else.
"""
