"""What the settings say of single routes: `Cache-Control`, CORS and rate limits.

`patterns` says which entries fit a route, `routes` finds all that holds for one, `rates`
counts. `fxtrio.serve.request.entry` asks them for each request to such a route.
"""
