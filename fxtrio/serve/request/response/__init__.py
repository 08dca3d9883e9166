"""What a request ends in, and how it is sent."""
