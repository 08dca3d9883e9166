"""The HTTP server: its protocols, its processes, and what stock Hypercorn needs."""
