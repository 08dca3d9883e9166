"""What Python code returns where no annotation says so, read from its text."""
