"""What `fx dev` is made of: a loop that prepares, a child that serves, pages that take updates.

Begin with `loop`; `watch` tells it what has changed, `workshop` compiles and hands the halves
on, `vite` has the UI half, and `child`, which `serving` runs, swaps the Python half.
"""
