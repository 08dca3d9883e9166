"""Registration: the confirmed address, its mails, and the hook of the project."""
