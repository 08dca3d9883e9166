"""The types of a whole project, gathered in a process that imports it. Begin with `gather`."""
