"""One request: its event, route hooks, CSRF check, body, response, and deadline.

Begin with `event`. `spool` reads the body within limits, `validate` turns it into typed
arguments, and `response` and `error_response` build the response. Pages are not known here.
"""
