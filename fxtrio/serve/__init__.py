"""One request: bytes → route → loaders → render → response."""
