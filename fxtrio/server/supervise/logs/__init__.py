"""What a server writes of itself and of its requests, and how."""
