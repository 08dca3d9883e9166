"""`.fxl` files in; a Python module, a JSX module and a manifest entry out."""
