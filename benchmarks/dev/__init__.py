"""What a save costs under `fx dev`, and under the development servers of others.

Begin with `__main__`; `model` is what is known of each, `edits` what is saved, `server` runs one.
"""
