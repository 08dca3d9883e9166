"""A page file split into its Python half and its UI half, by text alone."""
