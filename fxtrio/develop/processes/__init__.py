"""The processes of `fx dev`: how they start, what they say to each other, and how they end."""
