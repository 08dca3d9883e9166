"""What the settings say of single routes: `Cache-Control`, CORS and rate limits.

Begin with `routes`, which finds all that holds for one; `patterns` says which entries fit,
`rate_limit` counts. `fxtrio.serve.request.apply_route_policy` asks them for each request to such
a route.
"""
