"""What `fx dev` is made of: a loop that prepares, a child that serves, pages that take updates.

Begin with `loop`; `watcher` tells it what has changed, `dev_project` compiles and hands the halves
on, `vite` has the UI half, and `child`, which `server_child` runs, swaps the Python half.
"""
