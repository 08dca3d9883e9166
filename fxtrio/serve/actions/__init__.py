"""Server actions: found by their URL, called with a checked body, answered as JSON or as a page.

Begin with `call`, the whole of one call; `find` reads the URL, `outcome` is what it came to.
"""
