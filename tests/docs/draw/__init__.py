"""The pictures of the documentation, as SVG. ``python -m tests.docs.draw`` writes them."""
