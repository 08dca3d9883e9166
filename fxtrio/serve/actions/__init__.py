"""Server actions: found by their URL, called with a checked body, answered as JSON or as a page.

Begin with `action`, the whole of one call; `lookup` reads the URL, `result` is what it came to, and
`streaming` runs an action that yields its values.
"""
