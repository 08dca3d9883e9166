"""Node processes: started, isolated, tied to this one, and their output."""
