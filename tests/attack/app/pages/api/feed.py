"""An endpoint for users, by its hook alone, with a WebSocket."""

import watch

from fx.realtime import authenticate_websocket


async def get(request):
    return watch.seen_by(request, request.state.user)


async def websocket(ws):
    seen = watch.seen_by(ws, await authenticate_websocket(ws))
    await ws.accept()
    await ws.send_json(seen)
    async for text in ws.iter_text():
        await ws.send_text(text)
