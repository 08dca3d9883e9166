"""Finished builds: written whole, and put in the place of the build before."""
