"""What a reader gets of a failing run: a shorter run, its last steps, and how to see it again."""
