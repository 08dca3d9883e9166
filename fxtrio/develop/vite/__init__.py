"""The Node process of development: Vite, and what browsers load from it."""
