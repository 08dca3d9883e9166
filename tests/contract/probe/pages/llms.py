def llms_txt(ctx):
    pages = "\n".join(f"{page.title}: {page.md_url}" for page in ctx.pages)
    return f"{pages}\n---\n{ctx.render_default()}"


async def wrap_markdown(ctx, markdown):
    if ctx.path == "/items/bare":
        return None
    return f"{markdown}\n\n-- {ctx.path}"
