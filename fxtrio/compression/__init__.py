"""Content codings of responses: negotiation, eligibility and encoding.

`accept_encoding` parses `Accept-Encoding`, `codings` encodes, `eligibility` decides what can be
encoded without revealing a secret by its size, `middleware` encodes the responses of an ASGI
app, `gzip_splice` cached responses, and `precompressed` the files of a build.
Begin with `middleware`.
"""
