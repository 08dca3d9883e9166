"""Kept responses: what a page with CACHE comes to for everybody, and when it is made anew."""
