"""Node workers that render pages: frames, worker, pool."""
