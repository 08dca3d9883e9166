"""`fx dev`, with a project of its own or an example: each gets one page more, which is edited."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from benchmarks.contenders.model import Command
from benchmarks.dev import edits
from benchmarks.dev.edits import OVERLAY
from benchmarks.dev.model import DevServer, Project
from tests.e2e.support import copy_example, fx

PAGE_FILE = "pages/bench.fxl"
PAGE = """from bench_state import SEEN
VALUE = "data 0"


@server
async def load(request):
    return {"value": VALUE, "seen": len(SEEN)}


import { useEffect, useState } from "react";
import { Badge } from "./bench/_badge";
import "./bench.css";

const CODE = 0;

export default function Bench({ data }) {
  const [count, setCount] = useState(0);
  useEffect(() => void performance.mark("bench:live"), []);
  return (
    <>
      <h1 id="text">text 0</h1>
      <p id="data">{data.value}</p>
      <p id="code">code {CODE}</p>
      <Badge />
      <p id="seen">{data.seen}</p>
      <button id="count" onClick={() => setCount(count + 1)}>{count}</button>
      <input id="typed" />
      <div style={{ height: "3000px" }} />
    </>
  );
}
"""
BADGE_FILE = "pages/bench/_badge.jsx"
BADGE = """export function Badge() {
  return <b id="badge">badge 0</b>;
}
"""
STATE = "SEEN = [1, 2, 3]\n"

_OVERLAID = f"{OVERLAY} !== null"
_EDITS = {
    "UI text": (edits.text(PAGE_FILE),),
    "UI code": (edits.code(PAGE_FILE),),
    "component": (edits.component(BADGE_FILE),),
    "CSS": (edits.style("pages/bench.css"),),
    "loader data": (edits.data(PAGE_FILE),),
    "UI error shown / gone": edits.broken(PAGE_FILE, "<input id", "<<input id", _OVERLAID),
    "server error shown / gone": edits.broken(PAGE_FILE, "VALUE =", "VALUE = 1 / 0 #", _OVERLAID),
    "new page": (
        edits.new_page(
            "pages/fresh{n}.fxl", "export default () => <h1 id='fresh'>fresh {n}</h1>;\n"
        ),
    ),
}
_OTHER = """@server
async def load(request):
    return {"number": {n}}


import { useState } from "react";

import { Badge } from "./bench/_badge";

export default function Page{n}({ data }) {
  const [count, setCount] = useState(0);
  return (
    <>
      <h1>Page {data.number}</h1>
      <Badge />
      <button onClick={() => setCount(count + 1)}>{count}</button>
    </>
  );
}
"""


def fxtrio(name: str, folder: Path) -> DevServer:
    """Return `fx dev` with the starter or the example ``name``, copied into ``folder``."""
    if name == "starter":
        fx("init", "shop", cwd=folder)
        root = folder / "shop"
    else:
        root = copy_example(name, folder)
    return _server(f"fx dev, {name}", root)


def bare(folder: Path) -> DevServer:
    """Return `fx dev` with a project in ``folder`` of nothing but pages, as peers have them."""
    return _server("fx dev", folder)


def _server(name: str, root: Path) -> DevServer:
    project = Project(root)
    project.write(PAGE_FILE, PAGE)
    project.write(BADGE_FILE, BADGE)
    project.write("pages/bench.css", "#text { color: rgb(0, 0, 0) }\n")
    project.write("bench_state.py", STATE)
    if not (root / "pages/not-found.fxl").exists():  # what stands where a page comes later
        project.write("pages/not-found.fxl", "export default () => <h1>Not found</h1>;\n")
    return DevServer(
        name=name,
        project=project,
        command=lambda port: Command(
            argv=(sys.executable, "-m", "fxtrio", "dev", "--port", str(port)), folder=root
        ),
        announces=re.compile(r"http://127\.0\.0\.1:"),
        path="/bench",
        edits=_EDITS,
        other_page=("pages/p{n}.fxl", _OTHER),
        caches=(".fx",),
    )
