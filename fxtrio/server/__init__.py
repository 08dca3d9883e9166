"""The HTTP server: its protocols, its processes, and what stock Hypercorn needs.

Begin with `header_fields`, which every protocol here asks; each of the folders says with which
of its files to begin.
"""
