"""Pages in each of their forms: loaders, payload, HTML, Markdown, and the boundaries."""
