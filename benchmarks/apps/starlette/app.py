"""The same work on Starlette with Jinja2: HTML without React, JSON for navigation."""

from pathlib import Path

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.templating import Jinja2Templates

ROWS = [
    {
        "id": number,
        "name": f"Person {number}",
        "email": f"person{number}@example.com",
        "amount": number * 1.25,
    }
    for number in range(1, 201)
]

templates = Jinja2Templates(Path(__file__).with_name("templates"))


async def hello(request: Request) -> Response:
    return templates.TemplateResponse(request, "hello.html", {"message": "Hello"})


async def table(request: Request) -> Response:
    return templates.TemplateResponse(request, "table.html", {"rows": ROWS})


async def hello_data(request: Request) -> Response:
    return JSONResponse({"ok": True, "props": {"data": {"message": "Hello"}}})


async def table_data(request: Request) -> Response:
    return JSONResponse({"ok": True, "props": {"data": {"rows": ROWS}}})


async def echo(request: Request) -> Response:
    body = await request.json()
    return JSONResponse({"ok": True, "name": body["name"]})


app = Starlette(
    routes=[
        Route("/hello", hello),
        Route("/table", table),
        Route("/hello.json", hello_data),
        Route("/table.json", table_data),
        Route("/echo", echo, methods=["POST"]),
    ]
)
