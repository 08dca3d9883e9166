from starlette.responses import JSONResponse

from fx.runtime import LoaderError


async def get(request):
    if request.query_params.get("fails"):
        raise LoaderError("Not here.", 404)
    return JSONResponse({"members": request.app.state.fx_broker.statistics().subscriptions})
