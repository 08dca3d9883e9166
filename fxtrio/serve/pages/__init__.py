"""Pages and their representations: loaders, payload, HTML, Markdown, and error boundaries.

Begin with `render`, which runs loaders and renders the view. `site` and `plan` hold the state that
is fixed at startup, `page` is one request for one page, and `respond` runs the representations
in `representations` and `markdown`.
"""
