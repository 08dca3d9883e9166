"""Random edits of a project that `fx dev` serves: whatever is saved, everybody sees the same.

`python -m tests.edits` makes two hundred of them; a few run with the other tests.
"""
