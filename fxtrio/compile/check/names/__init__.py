"""Names that Python halves use: bound, imported, or undefined."""
