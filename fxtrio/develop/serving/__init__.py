"""The process that serves the development build: the app, with pages that take updates."""
