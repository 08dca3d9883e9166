"""`fx build --standalone`: a folder that runs an app with nothing but Python, and Node for renders.

Begin with `write`. Nothing else of fxtrio imports this package but its command.
"""
