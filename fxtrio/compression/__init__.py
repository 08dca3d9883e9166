"""Content codings of responses: which a client takes, what may be encoded, and by whom.

`accept_encoding` reads `Accept-Encoding`, `codings` encodes, `eligibility` says what may be encoded
without telling a secret by its size, `middleware` encodes what an ASGI app sends, `gzip_splice`
what is kept, and `precompressed` what is built.
Begin with `middleware`.
"""
