"""The responses to requests, and how they are sent."""
