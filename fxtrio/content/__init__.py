"""Markdown files as articles: front matter, HTML, headings, highlighted code, included files.

Begin with `article`. Pages in Markdown (`fxtrio.compile.markdown_pages`) and collections
(`fxtrio.collections`) are made of it. Needs the extra `content`, which nothing else does.
"""
