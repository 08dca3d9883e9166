"""What the settings say of single routes: `Cache-Control`, CORS and rate limits.

Begin with `routes`, which finds all that holds for one; `patterns` says which entries fit,
`rates` counts. `fxtrio.serve.request.entry` asks them for each request to such a route.
"""
