"""What streams cost a server process, and how soon their values are on screen."""
