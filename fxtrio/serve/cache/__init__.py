"""The response cache for pages with CACHE, and its revalidation.

Begin with `response_cache`. `public_audience` decides what is cacheable, `keys` builds cache
keys, `store` holds the entries, and `invalidation` notifies the app's other processes.
"""
