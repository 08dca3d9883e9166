"""What is read from functions without annotations: exact where it can be, vague elsewhere."""

from __future__ import annotations

import itertools
import json
import sys
from pathlib import Path
from textwrap import dedent, indent
from types import ModuleType
from typing import Any

import attrs
import pytest
from starlette.requests import Request

from fxtrio import runtime
from fxtrio.encode import encode
from fxtrio.errors import Redirect
from fxtrio.tools.types.inference.function_inference import make_reader
from fxtrio.tools.types.python.annotations import Shaper
from fxtrio.tools.types.python.class_names import Definitions
from fxtrio.tools.types.python.return_types import Returned
from fxtrio.tools.types.python.shapes import ObjectShape, RecordShape, Shape
from fxtrio.tools.types.python.sources import Sources
from fxtrio.tools.types.ui.typescript import Printer
from tests.types.models import fits

TOP = """
import datetime as dt
import enum, functools, json, uuid
from collections import defaultdict
from collections.abc import Sequence
from datetime import date, datetime, timedelta
from pathlib import Path
from decimal import Decimal
from typing import Any, NamedTuple, Protocol, Self, TypedDict, TypeVar, runtime_checkable
import attrs
from fx.db import db
from fx.runtime import LoaderError, redirect, invalidate_routes

Row = TypeVar("Row")

class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"

@attrs.define
class Tag:
    name: str

@attrs.define
class Note:
    id: int
    title: str
    due: date | None = None
    tags: list[Tag] = attrs.field(factory=list)
    color: Color = Color.RED

    @property
    def short(self) -> str:
        return self.title[:10]

    @property
    def shout(self):
        return self.title.upper()

    def copy(self) -> Self:
        return self

    def plain(self):
        return {"id": self.id, "title": self.title}

class Author(TypedDict, total=False):
    name: str

class Point(NamedTuple):
    x: int
    y: float

@runtime_checkable
class Named(Protocol):
    title: str

class Refusing(type):
    def __subclasscheck__(cls, other): raise ValueError("refused")
    def __instancecheck__(cls, other): return False
    def __eq__(cls, other): raise ValueError("not to be compared")
    __hash__ = type.__hash__
class Picky(metaclass=Refusing): pass
class Odd(metaclass=Refusing): pass
class Plain: pass
class Mixin: pass
def ratio() -> float: return 1

class Store:
    count = 0

    def __init__(self):
        self.notes: dict[int, Note] = {}
        self.raw = {}

    def all(self) -> list[Note]:
        return list(self.notes.values())

    def find(self, id):
        return self.notes.get(id)

NOTES: dict[int, Note] = {}
MAYBE: Note | None = None
POSTS = [{"slug": "a", "title": "A", "likes": 1}, {"slug": "b", "title": "B", "likes": 2}]
GROWING = []
LIMIT = 5
counter = 0
store = Store()
names = ["a", "b"]

def rename(): POSTS[0]["likes"] = "many"
def grow(x): GROWING.append(x)
def count():
    global counter
    counter = "many"
def one(id: int) -> Note | None: return NOTES.get(id)
async def later(id: int) -> Note: return NOTES[id]
def first(rows: Sequence[Row]) -> Row: return rows[0]
def change(rows: list[Any]) -> None: rows.append(None)
def look(rows: Sequence[Any]) -> int: return len(rows)
def helper(note): return {"id": note.id, "name": note.title}
def nothing(*rows): return unknown()
def cycle(n): return cycle(n - 1) if n else {"n": n}
def amount(n=1): return n
def some(limit: int = None): return {"limit": limit, "more": limit and limit + 1}
def shouting(function):
    @functools.wraps(function)
    def inner(*args, **more): return str(function(*args, **more)).upper()
    return inner
def careful(function):
    @functools.wraps(function)
    async def inner(*args, **more):
        if unknown_flag: raise LoaderError("no", 403)
        return await function(*args, **more)
    return inner
unknown_flag = False
@shouting
def five() -> int: return 5
@functools.cache
def six() -> int: return 6
@careful
async def cared_for(id: int) -> Note: return NOTES[id]
def spoiled(rows): rows.append({"odd": 1}); return rows
"""

_numbers = itertools.count()


@attrs.frozen
class Read:
    """What was read of a loader."""

    shape: Shape
    named: dict[str, Shape]
    load: Any

    @property
    def text(self) -> str:
        return Printer().type(self.shape)


def read(body: str, top: str = "") -> Read:
    """Return what is read of a loader with this body."""
    name = f"fx_types_case_{next(_numbers)}"
    text = f"{TOP}{top}\nasync def load(request):\n{indent(dedent(body), '    ')}\n"
    module = ModuleType(name)
    module.__file__ = f"/project/pages/{name}.fxl"
    sys.modules[name] = module
    try:
        exec(compile(text, module.__file__, "exec"), module.__dict__)
        module.__dict__.setdefault("server", runtime.server)
        sources = Sources(Path("/project"), {f"pages/{name}.fxl": text})
        definitions = Definitions()
        shape = Returned(Shaper(sources, definitions), make_reader(sources)).by_loader(module.load)
        return Read(shape, {one.name: one.shape for one in definitions.all()}, module.load)
    finally:
        del sys.modules[name]


EXACT = {
    'return {"a": 1, "b": "x", "c": 1.5, "d": True, "e": None}': (
        "{ a: number; b: string; c: number; d: boolean; e: null }"
    ),
    'return {"a": f"{1}", "b": "x" + "y", "c": 1 + 2, "d": 3 / 2, "e": not 1, "f": 1 < 2}': (
        "{ a: string; b: string; c: number; d: number; e: boolean; f: boolean }"
    ),
    'return {"notes": list(NOTES.values())}': "{ notes: Note[] }",
    'return {"notes": [n.title for n in NOTES.values() if n.due]}': "{ notes: string[] }",
    'return {"due": [n.due for n in NOTES.values()]}': "{ due: (string | null)[] }",
    'return {"n": one(1)}': "{ n: Note | null }",
    'n = one(1)\nif n is None:\n    raise LoaderError("no", 404)\nreturn {"n": n}': "{ n: Note }",
    'n = one(1)\nif not n:\n    return redirect("/")\nreturn {"n": n.title}': "{ n: string }",
    'if (n := one(1)) is None:\n    return {"n": ""}\nreturn {"n": n.title}': "{ n: string }",
    'n = one(1)\nassert n\nreturn {"n": n}': "{ n: Note }",
    'found = (n := one(1)) and n.title\nreturn {"n": n}': "{ n: Note | null }",
    'n = one(1)\nfound = n and (title := n.title)\nreturn {"n": n}': "{ n: Note | null }",
    'found = (n := one(1)) and (t := n.title)\nreturn {"t": t, "f": found}': (
        "{ t: string; f: null | string }"
    ),
    'if not ((n := one(1)) and n.title):\n    return {"n": ""}\nreturn {"n": n}': (
        "{ n: string } | { n: Note }"
    ),
    'found = (n := one(1)) is None or n.title\nreturn {"n": n}': "{ n: Note | null }",
    'return {"n": await later(1)}': "{ n: Note }",
    'n = await later(1)\nreturn {"due": n.due.isoformat() if n.due else ""}': "{ due: string }",
    'n = await later(1)\nreturn {"due": n.due and n.due.isoformat()}': "{ due: null | string }",
    'n = await later(1)\nreturn {"due": n.due if n.due is not None else 0}': (
        "{ due: string | number }"
    ),
    'return {"rows": await db.all(Note, "select 1")}': "{ rows: Note[] }",
    'return {"row": await db.one(Note, "select 1")}': "{ row: Note | null }",
    'return {"n": await db.execute("delete")}': "{ n: number }",
    'return {"t": (await later(1)).short, "u": (await later(1)).shout}': "{ t: string; u: string }",
    'return {"t": (await later(1)).copy()}': "{ t: Note }",
    'return {"t": (await later(1)).plain()}': "{ t: { id: number; title: string } }",
    'return {"t": [n.plain() for n in store.all()]}': "{ t: { id: number; title: string }[] }",
    'return {"n": store.find(1)}': "{ n: Note | null }",
    'return {"n": [helper(n) for n in store.notes.values()]}': (
        "{ n: { id: number; name: string }[] }"
    ),
    'return {"limit": LIMIT, "names": names}': "{ limit: number; names: string[] }",
    'return {"p": POSTS}': "{ p: { slug: string; title: string; likes: any }[] }",
    'return {"p": next(p for p in POSTS if p["slug"] == "a")["title"]}': "{ p: string }",
    'return {"id": request.path_params["id"], "q": request.query_params.get("q", "")}': (
        "{ id: string; q: string }"
    ),
    'return {"q": request.query_params.get("q"), "m": request.method, "u": request.url.path}': (
        "{ q: string | null; m: string; u: string }"
    ),
    'return {"page": int(request.query_params.get("page", 1))}': "{ page: number }",
    'd = {"a": 1}\nd["b"] = "x"\nreturn d': "{ a: number; b: string }",
    'd = {"a": 1}\nif LIMIT:\n    d["b"] = "x"\nreturn d': "{ a: number; b?: string }",
    'd = {"a": 1}\ne = d\ne["a"] = "x"\nreturn d': "{ a: string }",
    'd = {"a": 1}\nd.update(b=2)\nd |= {}\nreturn {**{"x": 1}, "y": 2}': (
        "{ x: number; y: number }"
    ),
    'd = {"a": 1}\nd |= {"b": "x"}\nreturn d': "{ a: number; b: string }",
    'return {**{"a": 1, "b": 1}, "b": "x"} | {"c": None}': "{ a: number; b: string; c: null }",
    'rows = []\nfor n in store.all():\n    rows.append({"id": n.id})\nreturn {"rows": rows}': (
        "{ rows: { id: number }[] }"
    ),
    "rows = []\nfor n in store.all():\n    rows.append(n.id)\n    rows.append(n.due)\n"
    'return {"rows": rows}': "{ rows: (number | string | null)[] }",
    'total = 0\nfor n in store.all():\n    total += n.id\nreturn {"total": total}': (
        "{ total: number }"
    ),
    'best = None\nfor n in store.all():\n    best = n\nreturn {"best": best}': (
        "{ best: null | Note }"
    ),
    'if LIMIT:\n    return {"a": 1}\nreturn {"a": None}': "{ a: number } | { a: null }",
    'if LIMIT:\n    return {"a": 1}, 404\nreturn {"b": 2}': (
        "{ a: number; b?: undefined } | { b: number; a?: undefined }"
    ),
    'return {"now": datetime.now(), "d": datetime.now() - datetime.now(), "u": uuid.uuid4()}': (
        "{ now: string; d: string; u: string }"
    ),
    'return {"y": date.today().year, "iso": dt.date.today().isoformat()}': (
        "{ y: number; iso: string }"
    ),
    'return {"c": Color.RED, "v": Color.RED.value, "all": [c.value for c in Color]}': (
        '{ c: "red" | "blue"; v: string; all: string[] }'
    ),
    'return {"t": [(n.id, n.title) for n in store.all()]}': "{ t: [number, string][] }",
    'p = Point(1, 2)\nreturn {"p": p, "x": p.x, "y": p[1]}': (
        "{ p: [number, number]; x: number; y: number }"
    ),
    'return {"a": sorted(names), "b": len(names), "c": sum(n.id for n in store.all())}': (
        "{ a: string[]; b: number; c: number }"
    ),
    'return {"pairs": [{"i": i, "t": n.title} for i, n in enumerate(store.all())]}': (
        "{ pairs: { i: number; t: string }[] }"
    ),
    'return {"by": {n.id: n.title for n in store.all()}}': "{ by: Record<string, string> }",
    'return {"f": first(store.all())}': "{ f: Note }",
    'a: Author = {}\nreturn {"a": a, "n": a["name"]}': "{ a: Author; n: string }",
    'rows = [1]\nlook(rows)\nreturn {"rows": rows}': "{ rows: number[] }",
    'return spoiled([{"odd": "x"}])[0]': "{ odd: string } | { odd: number }",
    'try:\n    n = await later(1)\nexcept KeyError:\n    n = None\nreturn {"n": n}': (
        "{ n: Note | null }"
    ),
    'async with db.transaction():\n    n = await later(1)\nreturn {"n": n}': "{ n: Note }",
    'n = None\nwith suppress(KeyError):\n    n = 1\nreturn {"n": n}': "{ n: null | number }",
    'n = None\nwith trio.move_on_after(1):\n    n = 1\nreturn {"n": n}': "{ n: null | number }",
    'n = None\nwith remove_one(1):\n    n = 1\nreturn {"n": n}': "{ n: number }",
    'while True:\n    n = one(1)\n    if n:\n        break\nreturn {"n": n}': "{ n: Note }",
    'while n := one(1):\n    look(n)\nreturn {"n": n}': "{ n: Note | null }",
    'n = one(1)\nwhile n is None:\n    n = one(1)\nreturn {"n": n}': "{ n: Note }",
    'return {"x": NOTES.get(1) or {"title": ""}}': "{ x: Note | { title: string } }",
    'return {"d": Decimal("1") * 2, "s": str(1).split(",")}': "{ d: string; s: string[] }",
    'return {"a": "x" if LIMIT else None, "b": "%d" % 1, "c": -LIMIT}': (
        "{ a: string | null; b: string; c: number }"
    ),
    "for n in names:\n    if n == 'b':\n        it = 1\n        break\nelse:\n    it = 'no'\n"
    'return {"it": it}': "{ it: string | number }",
    "it = None\nfor n in names:\n    if n == 'a':\n        continue\n    it = n\n    break\n"
    'else:\n    raise LoaderError("no")\nreturn {"it": it}': "{ it: string }",
    'd = {"a": 1}\nreturn dict(**d, b=2)': "{ a: number; b: number }",
    'd = {"a": 1}\nd.update(**{"a": "x"}, b=2)\nreturn d': "{ a: string; b: number }",
    'return {"n": amount(**{"n": "x"}), "m": amount(*("x",)), "most": max(*names)}': (
        "{ n: string; m: string; most: string }"
    ),
    'return {"a": True | False, "b": True & 1, "c": five(), "d": six()}': (
        "{ a: boolean; b: number; c: string; d: number }"
    ),
    'return {"n": await cared_for(1)}': "{ n: Note }",
    'it = None\ntry:\n    if LIMIT:\n        it = 1\n        int("x")\n        it = "x"\n'
    'except ValueError:\n    pass\nreturn {"it": it}': "{ it: string | null | number }",
    'a = [1]\nb = a[:]\nb.append(None)\nreturn {"a": a, "b": b}': (
        "{ a: number[]; b: (number | null)[] }"
    ),
    'return {"all": list(Color), "texts": list(map(str, [1])), "zone": datetime.now().tzname()}': (
        '{ all: ("red" | "blue")[]; texts: string[]; zone: string | null }'
    ),
    'if LIMIT:\n    return {"rows": [], "a": 1}\nreturn {"rows": names}': (
        "{ rows: string[]; a: number } | { rows: string[]; a?: undefined }"
    ),
    'return {"by": {n.id: n.title for n in NOTES.values()}}': "{ by: Record<string, string> }",
    'return {"by": {n.id: {"t": n.title} for n in NOTES.values()}}': (
        "{ by: Record<string, { t: string }> }"
    ),
    'd = {}\nfor n in names:\n    d[n] = 1\nd[names[0]] = 2\nreturn {"d": d}': (
        "{ d: Record<string, number> }"
    ),
    'd = {}\nfor n in names:\n    d[n] = 1 if LIMIT else None\nreturn {"d": dict(d)}': (
        "{ d: Record<string, number | null> }"
    ),
    'd = {}\nfor n in names:\n    d.setdefault(n, []).append({"n": 1})\nreturn {"d": d}': (
        "{ d: Record<string, { n: number }[]> }"
    ),
    'd = defaultdict(list)\nfor n in names:\n    d[n].append(1)\nreturn {"d": d, "n": list(d)}': (
        "{ d: Record<string, number[]>; n: string[] }"
    ),
    'd = defaultdict(int)\nfor n in names:\n    d[n] += 1\nreturn {"d": d}': (
        "{ d: Record<string, number> }"
    ),
    'd = {"GET": {"n": 1}, "POST": {"n": 2}}\nreturn {"d": d[request.method]}': (
        "{ d: { n: number } }"
    ),
    'd = {"GET": {"n": 1}}\nreturn {"d": d.get(request.method), "n": d.get(str(1), {})}': (
        "{ d: { n: number } | null; n: { n: number } | { n?: undefined } }"
    ),
    'x = 1 if LIMIT else [1]\nif isinstance(x, list):\n    return {"x": x}\nreturn {"x": [x]}': (
        "{ x: number[] }"
    ),
    'x = 1 if LIMIT else "a"\nreturn {"x": x if isinstance(x, (int, float)) else 0}': (
        "{ x: number }"
    ),
    'x = [1]\nif not isinstance(x, list):\n    return {"x": "no"}\nreturn {"x": x[0]}': (
        "{ x: number }"
    ),
    'return {"b": Path(__file__).is_dir(), "up": datetime.now() - datetime.now()}': (
        "{ b: boolean; up: string }"
    ),
    'x = await later(1) if LIMIT else "a"\nreturn {"x": x if isinstance(x, str) else x.title}': (
        "{ x: string }"
    ),
    "return some()": "{ limit: number | null; more: number | null }",
    'raise LoaderError("never")': "{}",
    'return invalidate_routes({"a": 1}, "/")': "{ a: number }",
}

CYCLIC = {
    'nodes = {p["slug"]: {"title": p["title"], "children": []} for p in POSTS}\n'
    'for p in POSTS:\n    nodes[p["slug"]]["children"].append(nodes[p["title"]])\n'
    'return {"nodes": nodes}': "{ nodes: Record<string, { title: string; children: any[] }> }",
    "d = {}\nfor k in names:\n    d[k] = d\nreturn d": "Record<string, any>",
    'nodes = {n: {"parent": None} for n in names}\nfor n in names:\n'
    '    nodes[n]["parent"] = nodes[n]\nreturn {"n": nodes}': (
        "{ n: Record<string, { parent: any }> }"
    ),
    "d = defaultdict(dict)\nfor k in names:\n    d[k] = d\nreturn d": "Record<string, any>",
    'd = {"n": 1}\nfor k in names:\n    d["x"] = d\nreturn d': "{ n: number; x?: any }",
    'node = {"next": []}\nfor n in names:\n    node["next"].append(node)\nreturn node': (
        "{ next: any[] }"
    ),
}
"""Objects that contain themselves as far as is known: as trees do whose nodes are alike."""

VAGUE = {
    'return {"n": nothing()}': "{ n: any }",
    'return {"n": counter}': "{ n: any }",
    'return {"n": GROWING}': "{ n: any }",
    'return {"n": store.raw}': "{ n: any }",
    'return {"n": json.loads("1")}': "{ n: any }",
    "return nothing()": "any",
    'rows = [1]\nreturn {"rows": rows, "it": list(map(lambda x: rows.append("x"), [2]))}': (
        "{ rows: any; it: any[] }"
    ),
    'return {"n": amount(*names), "zipped": list(zip(*[(1, 2)]))}': "{ n: any; zipped: any[] }",
    'rows = [1]\nadd = lambda: rows.append("x")\nadd()\nreturn {"rows": rows}': "{ rows: any }",
    'rows = [1]\nchange(rows)\nreturn {"rows": rows}': "{ rows: any }",
    'd = {"a": 1}\nnothing(d)\nreturn {"d": d}': "{ d: any }",
    'd = {"a": 1}\nfor n in unknown:\n    n(d)\nreturn {"d": d}': "{ d: any }",
    'd = {"a": 1}\nunknown(d)\nreturn {"d": d}': "{ d: any }",
    'd = {"a": 1}\nd[request.method] = "x"\nreturn {"d": d}': "{ d: any }",
    'd = {"GET": 1, "POST": "x"}\nreturn {"d": d[request.method]}': "{ d: any }",
    'd = {}\nd[request.method] = 1\nd["a"] = "x"\nreturn {"d": d}': ("{ d: Record<string, any> }"),
    'd = {}\nd[request.method] = 1\nd[request.url.path] = "x"\nreturn {"d": d}': (
        "{ d: Record<string, any> }"
    ),
    'return {"d": {1: 1, 2: "x"}}': "{ d: Record<string, any> }",
    'return {"d": {"a": "x", **{n: 1 for n in names}}}': "{ d: any }",
    'd = defaultdict(lambda: 1)\nd["a"] = 2\nreturn {"d": d}': "{ d: Record<string, any> }",
    'd = {"a": 1}\ndel d["a"]\nreturn {"d": d}': "{ d: any }",
    'd = {}\ndef fill():\n    d["a"] = 1\nfill()\nreturn {"d": d}': "{ d: any }",
    'd = {}\nasync with nursery() as n:\n    n.start_soon(later, d)\nreturn {"d": d}': "{ d: any }",
    'x = 1\ndef set():\n    nonlocal x\n    x = None\nset()\nreturn {"x": x}': "{ x: any }",
    'return {"x": cycle(3)}': "{ x: any }",
    'return {"x": MAYBE.title if unknown else unknown}': "{ x: any }",
    'import random\nreturn {"x": random.choice(names)}': "{ x: any }",
    'return {"rows": [*unknown]}': "{ rows: any[] }",
    'return {"a": (yield_ := unknown)}': "{ a: any }",
    'return {"x": lambda: 1}': "{ x: any }",
    'x = 1\nmatch request.method:\n    case str(x):\n        pass\nreturn {"x": x}': "{ x: any }",
    'return {"v": await db.value("select 1")}': "{ v: any }",
    'x = await later(1)\nif isinstance(x, Named):\n    return {"x": 1}\nreturn {"x": "a"}': (
        "{ x: number } | { x: string }"
    ),
    'x = await later(1)\nif isinstance(x, Picky):\n    return {"x": 1}\nreturn {"x": "a"}': (
        "{ x: number } | { x: string }"
    ),
    'x = Plain()\nif isinstance(x, Mixin):\n    return {"x": 1}\nreturn {"x": "a"}': (
        "{ x: number } | { x: string }"
    ),
    'x = ratio()\nif isinstance(x, int):\n    return {"x": 1}\nreturn {"x": "a"}': (
        "{ x: number } | { x: string }"
    ),
    'x = ratio()\nif isinstance(x, float):\n    return {"x": 1}\nreturn {"x": "a"}': (
        "{ x: number } | { x: string }"
    ),
    'd = defaultdict(Odd)\nd[request.method] = 1\nreturn {"d": d}': "{ d: Record<string, any> }",
    'note = await later(1)\nnote.title = None\nreturn {"n": note.title}': "{ n: null }",
}


@pytest.mark.parametrize("body", EXACT)
def test_returned_values_are_inferred(body: str) -> None:
    assert read(body).text == EXACT[body]


def request() -> Request:
    scope = {"type": "http", "method": "GET", "path": "/x", "query_string": b"q=1&page=2"}
    headers = [(b"host", b"localhost")]
    return Request({**scope, "headers": headers, "path_params": {"id": "1"}, "scheme": "http"})


async def test_inferred_types_match_the_sent_json() -> None:
    sent = 0
    wrong = []
    for body in [*EXACT, *VAGUE]:
        found = read(body, 'NOTES[1] = Note(1, "One", tags=[Tag("t")])\nstore.notes = NOTES\n')
        try:
            value = await found.load(request())
            value = value[0] if isinstance(value, tuple) else value
            data = json.loads(encode(value, place="test"))
        except (Exception, Redirect):  # of a loader: it sends nothing, as without a database
            continue
        sent += 1
        if not fits(data, found.shape, found.named):
            wrong.append((body, data, found.text))

    assert wrong == []
    assert sent >= 50


@pytest.mark.parametrize("body", VAGUE)
def test_what_cannot_be_inferred_is_unknown(body: str) -> None:
    assert read(body).text == VAGUE[body]


@pytest.mark.parametrize("body", CYCLIC)
def test_what_contains_itself_ends(body: str) -> None:
    assert read(body).text == CYCLIC[body]


def test_a_constant_that_differs_under_unknown_keys_is_none() -> None:
    body = 'return {n: {"k": "a"} for n in names} if LIMIT else {n: {"k": "b"} for n in names}'
    shape = read(body).shape
    assert isinstance(shape, RecordShape)
    assert isinstance(shape.value, ObjectShape)
    assert [key.fixed for key in shape.value.keys] == [None]
