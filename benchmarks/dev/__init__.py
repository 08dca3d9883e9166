"""How long `fx dev` takes from a save to the screen."""
