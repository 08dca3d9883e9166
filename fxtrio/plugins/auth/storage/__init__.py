"""The storage of users and sessions: its interface, and the one on `fxtrio.db`."""
