"""What `fx dev` is made of: a loop that builds, a child that serves, a page that reloads."""
