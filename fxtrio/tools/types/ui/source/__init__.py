"""What the source text of a UI half shows: exports, components, forms, guards."""
