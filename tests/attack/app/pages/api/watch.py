"""What the process has noticed since the last request, for whoever attacks it."""

import hmac
import os

from starlette.responses import JSONResponse


async def get(request):
    key = request.headers.get("x-watch", "").encode()
    if not hmac.compare_digest(key, os.environ["ATTACK_KEY"].encode()):
        return JSONResponse({"ok": False}, 403)
    return request.app.state.fx.plugins["watch"].take()
