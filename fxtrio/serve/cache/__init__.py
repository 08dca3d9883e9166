"""Stored responses: what a page with CACHE comes to for everybody, and when it is made anew.

Begin with `response_cache`. `public_audience` says what may be stored, `keys` what it depends on,
`store` is the memory that holds it, and `invalidation` tells the app's other processes.
"""
