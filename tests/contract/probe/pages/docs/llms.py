def to_markdown(ctx):
    return f"A document at {ctx.path}"
