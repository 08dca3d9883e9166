"""The ASGI application of a worker: imported, opened, and wrapped."""
