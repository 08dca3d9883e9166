"""Pages in each of their forms: loaders, payload, HTML, Markdown, and the boundaries.

Begin with `render`, from loaders to view. `site` and `plan` hold what is fixed when the app is
made, `page` is one request for one page, and `representations` and `as_markdown` are what `respond`
runs.
"""
