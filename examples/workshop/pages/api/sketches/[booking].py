"""The sketch of a booking, for those who are signed in."""

from starlette.exceptions import HTTPException
from starlette.responses import Response

from fx.db import db


async def get(request):
    sql = "select type, content from sketches where booking = $1"
    sketch = await db.one(dict, sql, request.path_params["booking"])
    if sketch is None:
        raise HTTPException(404, "There is no such sketch.")
    headers = {"cache-control": "private, max-age=3600"}
    return Response(sketch["content"], media_type=sketch["type"], headers=headers)
