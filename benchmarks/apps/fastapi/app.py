"""The same data on FastAPI, with typed bodies and answers: what a single-page app loads."""

from fastapi import FastAPI
from pydantic import BaseModel


class Row(BaseModel):
    id: int
    name: str
    email: str
    amount: float


class Greeting(BaseModel):
    message: str


class Table(BaseModel):
    rows: list[Row]


class Sent(BaseModel):
    name: str


class Echo(BaseModel):
    ok: bool
    name: str


ROWS = [
    Row(
        id=number,
        name=f"Person {number}",
        email=f"person{number}@example.com",
        amount=number * 1.25,
    )
    for number in range(1, 201)
]

app = FastAPI()


@app.get("/hello")
async def hello() -> Greeting:
    return Greeting(message="Hello")


@app.get("/table")
async def table() -> Table:
    return Table(rows=ROWS)


@app.post("/echo")
async def echo(sent: Sent) -> Echo:
    return Echo(ok=True, name=sent.name)
