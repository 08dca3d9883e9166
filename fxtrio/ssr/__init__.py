"""Server-side rendering in Node: frames, worker processes, and the pool that owns them."""
