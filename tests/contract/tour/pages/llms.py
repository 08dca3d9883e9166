def wrap_markdown(ctx, markdown):
    return None if ctx.path == "/" else f"{markdown}\n--\n{ctx.path}\n"
