"""The parts of `fx dev`: a loop that prepares, a child that serves, pages that take updates.

Begin with `loop`. `reload.watcher` reports changed files, `build.dev_project` compiles them, `vite`
runs the Node process with the UI halves, and `serving.child` swaps the Python halves.
"""
