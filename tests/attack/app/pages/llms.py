"""Frames every page as Markdown."""


def wrap_markdown(ctx, markdown):
    return f"{markdown.rstrip()}\n\n---\nFrom {ctx.path}\n"
