"""Parsed bodies in, instances of annotated classes or field errors out."""
