"""What `fx dev` is made of: a loop that builds, a child that serves, a page that reloads.

Begin with `loop`; `watch` tells it what has changed, `serving` runs the `child`.
"""
