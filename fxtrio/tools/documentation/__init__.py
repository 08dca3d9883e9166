"""The documentation that comes with the package. Begin with `topics`."""
