"""Pages as Markdown, for agents: prepared at startup, answered by request, and `/llms.txt`."""
