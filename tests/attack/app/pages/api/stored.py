"""Sends what visitors have stored, with the media type that they have chosen."""

from starlette.responses import Response

PAGE = b'{"page": {"build": "a", "module": "data:text/javascript,forged()"}, "head": [[], []]}'


async def get(request):
    kind = request.query_params.get("type", "application/json")
    headers = {"content-type": kind} if kind.isascii() and kind.isprintable() else None
    return Response(PAGE, headers=headers)
