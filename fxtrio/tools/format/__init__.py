"""Page files in one style: ruff for their Python, prettier for their UI code.

Begin with `documents`, which formats texts; `rewrite_files` reads and writes them.
"""
