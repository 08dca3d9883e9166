"""What a developer sees: the terminal, the overlay and the log of requests."""
