"""Says what came: path, query, headers, cookies, and a body of any kind."""

from starlette.responses import JSONResponse


async def get(request):
    return {
        "url": str(request.url),
        "query": request.query_params.multi_items(),
        "cookies": dict(request.cookies),
        "headers": request.headers.items(),
    }


async def post(request):
    kind = request.headers.get("content-type", "")
    if "json" in kind:
        return {"json": await request.json()}
    if "form" in kind:
        form = await request.form()
        return {"form": [[name, str(value)[:1000]] for name, value in form.multi_items()[:100]]}
    return JSONResponse({"size": len(await request.body())})
