"""Content codings of responses: which a client takes, what may be encoded, and by whom.

`accepted` reads `Accept-Encoding`, `codings` encodes, `rule` says what may be encoded
without telling a secret by its size, `sending` encodes what an ASGI app sends, `splice`
what is kept, and `files` what is built.
Begin with `sending`.
"""
