"""Answers to questions about a place in a page, one module for each kind."""
