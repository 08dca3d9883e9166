"""Runs jobs: claims due ones, makes one attempt of each, and writes its outcome.

Begin with `runner`.
"""
