"""Open page files: their versions, their halves, and places in them."""
