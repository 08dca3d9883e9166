"""Local pictures in the sizes and formats that browsers need, encoded once and cached in `.fx`.

Begin with `store`. Needs the extra `pictures` (Pillow).
`fxtrio/js/pictures/` asks a process of this package for them.
"""
