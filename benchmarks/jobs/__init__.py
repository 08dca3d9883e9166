"""Measures durable jobs: how many a second two processes run, what one costs, how late it is."""
