"""Settings of single routes: `Cache-Control`, CORS and rate limits.

Begin with `routes`, which finds the policy of a route; `patterns` matches entries, and
`rate_limit` counts. `fxtrio.serve.request.apply_route_policy` applies them to each request.
"""
