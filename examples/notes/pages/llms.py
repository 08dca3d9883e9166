"""Describes the app to agents, in /llms.txt."""


def llms_txt(ctx):
    listed = "\n".join(f"- {page.title}: {page.md_url}" for page in ctx.pages)
    return f"# Notes\n\nShort notes, written by people.\n\n{listed}\n"


def wrap_markdown(ctx, markdown):
    return f"{markdown.rstrip()}\n\n---\nFrom Notes, {ctx.path}\n"
