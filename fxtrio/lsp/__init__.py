"""The language server of page files, `fx lsp`: what an editor asks, answered across both halves."""
