"""What the Python halves of pages give to their UI halves: types, found once for all who ask.

Begin with `gather`, which makes `ProjectTypes` of an imported project; `shapes` is what types
are made of, `typescript` writes them down.
"""
