"""What reads a project without serving it: types, editors, formats, descriptions, conversions."""
