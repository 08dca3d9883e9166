"""Request bodies: bytes in, parsed values and files out."""
