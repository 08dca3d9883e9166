"""Development servers of others, with a page of the same parts; installed with npm."""

from __future__ import annotations

import re
from collections.abc import Callable

from benchmarks import cache
from benchmarks.contenders.model import Command
from benchmarks.contenders.nextjs import QUIET
from benchmarks.dev import edits
from benchmarks.dev.model import DevServer, Project

_NEXT_SHOWN = (
    "!!document.querySelector('nextjs-portal')?.shadowRoot"
    "?.querySelector('[data-nextjs-dialog], [data-nextjs-dialog-overlay]')"
)
_NEXT_PAGE = "export default function Fresh() {\n  return <h1 id='fresh'>fresh {n}</h1>;\n}\n"


def vite() -> DevServer:
    """Return Vite with React: no server half, and no pages."""
    project = _installed("dev-vite")
    page = "src/bench.jsx"
    shown = "document.querySelector('vite-error-overlay') !== null"
    return DevServer(
        name="Vite",
        project=project,
        command=lambda port: Command(
            argv=(
                *("node", str(project.root / "node_modules/vite/bin/vite.js")),
                *("--host", "127.0.0.1", "--port", str(port), "--strictPort"),
            ),
            folder=project.root,
            env={"NO_COLOR": "1"},
        ),
        announces=re.compile(r"Local:"),
        path="/",
        edits={
            "UI text": (edits.text(page),),
            "CSS": (edits.style("src/bench.css"),),
            "UI error shown / gone": edits.broken(page, "<input id", "<<input id", shown),
        },
    )


def nextjs() -> DevServer:
    """Return Next.js with its app router."""
    project = _installed("dev-next")
    page, view = "app/bench/page.jsx", "app/bench/view.jsx"
    return DevServer(
        name="Next.js",
        project=project,
        command=lambda port: Command(
            argv=(
                *("node", str(project.root / "node_modules/next/dist/bin/next"), "dev"),
                *("--hostname", "127.0.0.1", "--port", str(port)),
            ),
            folder=project.root,
            env={**QUIET, "NO_COLOR": "1"},
        ),
        announces=re.compile(r"Ready in|Local:"),
        path="/bench",
        edits={
            "UI text": (edits.text(view),),
            "CSS": (edits.style("app/bench/bench.css"),),
            "loader data": (edits.data(page, quote="'"),),
            "UI error shown / gone": edits.broken(view, "<input id", "<<input id", _NEXT_SHOWN),
            "server error shown / gone": edits.broken(
                page, "const VALUE =", "const VALUE = nothing.there; //", _NEXT_SHOWN
            ),
            "new page": (edits.new_page("app/fresh{n}/page.jsx", _NEXT_PAGE),),
        },
    )


PEERS: dict[str, Callable[[], DevServer]] = {"vite": vite, "next": nextjs}


def _installed(name: str) -> Project:
    cache.install_node(name)
    folder = cache.app_folder(name)
    for made in folder.glob("app/fresh*/page.jsx"):  # of the last time
        made.unlink()
        made.parent.rmdir()
    return Project(folder)
