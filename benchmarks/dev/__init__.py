"""What a save costs under `fx dev`, and under the development servers of others.

Begin with `__main__`; `table` measures all servers in turn, `model` is what is known of each,
`edits` what is saved, `server` runs one.
"""
