"""Pages as Markdown, and `/llms.txt`, for agents."""
