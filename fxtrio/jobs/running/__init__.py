"""Runs jobs: claims what is due, one attempt of each, and writes its outcome.

Begin with `runner`.
"""
