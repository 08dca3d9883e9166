"""The app's processes in a simulation, their connections, and the store that they share."""
