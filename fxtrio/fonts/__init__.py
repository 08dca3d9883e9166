"""Font files of a project, described so that a font of the system takes the same space.

Begin with `metrics`. Needs the extra `fonts` (fontTools).
`fxtrio/js/fonts/` runs `fxtrio.fonts.describe` for each file.
"""
