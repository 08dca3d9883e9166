"""The declarations of the two halves of a page, and their problems."""
