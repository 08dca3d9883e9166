"""HTML documents: whole, streamed while they are rendered, or rendered before and cached."""
