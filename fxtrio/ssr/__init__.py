"""Server-side rendering in Node: frames, worker processes, and the pool that owns them.

Begin with `pool`. `scheduler` chooses a worker for each render, `render_worker` exchanges
`frames` with one, and `worker_group` restarts workers.
"""
