"""Changed files: how they are noticed, and how running code takes their place."""
