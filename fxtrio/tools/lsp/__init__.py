"""The language server of page files, `fx lsp`: what an editor asks, answered across both halves.

Begin with `session`, which an editor's messages come to; `checking` shows problems, `ui_analysis`
knows what UI halves say.
"""
