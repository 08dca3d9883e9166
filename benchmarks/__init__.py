"""Measurements of fxtrio, alone and beside other frameworks. See README.md."""
