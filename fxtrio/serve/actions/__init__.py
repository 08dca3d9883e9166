"""Server actions: found by their URL, called with a checked body, answered as JSON or as a page."""
