"""Development servers of others, with a page of the same parts; installed with npm."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable

import attrs

from benchmarks import cache
from benchmarks.contenders.model import Command
from benchmarks.contenders.nextjs import QUIET
from benchmarks.dev import edits
from benchmarks.dev.model import DevServer, Edit, Project

_NEXT_OVERLAY = (
    "!!document.querySelector('nextjs-portal')?.shadowRoot"
    "?.querySelector('[data-nextjs-dialog], [data-nextjs-dialog-overlay]')"
)
_VITE_OVERLAY = "document.querySelector('vite-error-overlay') !== null"
_REACT_PAGE = "export default function Fresh() {\n  return <h1 id='fresh'>fresh {n}</h1>;\n}\n"
_OTHER = """import { useState } from 'react';

import { Badge } from '{badge}';

export default function Page{n}({ number = {n} }) {
  const [count, setCount] = useState(0);
  return (
    <>
      <h1>Page {number}</h1>
      <Badge />
      <button onClick={() => setCount(count + 1)}>{count}</button>
    </>
  );
}
"""
_SVELTE = """<script>
  import Badge from '../bench/Badge.svelte';

  let { number = {n} } = $props();
  let count = $state(0);
</script>

<h1>Page {number}</h1>
<Badge />
<button onclick={() => (count += 1)}>{count}</button>
"""


def vite() -> DevServer:
    """Return Vite with React: no server half, and pages that the browser chooses."""
    project = _installed("dev-vite")
    page = "src/pages/bench.jsx"
    return DevServer(
        name="Vite",
        project=project,
        command=lambda port: _vite_command(project, port),
        announces=re.compile(r"Local:"),
        path="/bench",
        edits={
            "UI text": (edits.text(page),),
            "UI code": (edits.code(page),),
            "component": (edits.component("src/badge.jsx"),),
            "CSS": (edits.style("src/pages/bench.css"),),
            "UI error shown / gone": edits.broken(page, "<input id", "<<input id", _VITE_OVERLAY),
            "new page": (edits.new_page("src/pages/fresh{n}.jsx", _REACT_PAGE),),
        },
        other_page=("src/pages/p{n}.jsx", _OTHER.replace("{badge}", "../badge.jsx")),
        caches=("node_modules/.vite",),
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
            "UI code": (edits.code(view),),
            "component": (edits.component("app/bench/badge.jsx"),),
            "CSS": (edits.style("app/bench/bench.css"),),
            "loader data": (edits.data(page, quote="'"),),
            "UI error shown / gone": edits.broken(view, "<input id", "<<input id", _NEXT_OVERLAY),
            "server error shown / gone": edits.broken(
                page, "const VALUE =", "const VALUE = nothing.there; //", _NEXT_OVERLAY
            ),
            "new page": (edits.new_page("app/fresh{n}/page.jsx", _REACT_PAGE),),
        },
        other_page=(
            "app/p{n}/page.jsx",
            "'use client';\n\n" + _OTHER.replace("{badge}", "../bench/badge.jsx"),
        ),
        caches=(".next",),
    )


def sveltekit() -> DevServer:
    """Return SvelteKit with a page that has a loader."""
    project = _installed("dev-sveltekit")
    folder = "src/routes/bench"
    page = f"{folder}/+page.svelte"
    return DevServer(
        name="SvelteKit",
        project=project,
        command=lambda port: _vite_command(project, port),
        announces=re.compile(r"Local:"),
        path="/bench",
        edits={
            "UI text": (edits.text(page),),
            "UI code": (edits.code(page),),
            "component": (edits.component(f"{folder}/Badge.svelte"),),
            "CSS": (edits.style(f"{folder}/bench.css"),),
            # An open page shows no other data when its loader has changed.
            "UI error shown / gone": _svelte_error(page),
            "new page": (
                edits.new_page(
                    "src/routes/fresh{n}/+page.svelte", "<h1 id='fresh'>fresh {n}</h1>\n"
                ),
            ),
        },
        other_page=("src/routes/p{n}/+page.svelte", _SVELTE),
        caches=(".svelte-kit", "node_modules/.vite"),
    )


def _svelte_error(page: str) -> tuple[Edit, Edit]:
    """Return a mistake and its repair by other code: after the same code, it stays shown."""
    mistake, removal = edits.broken(page, "<input", "<<input", _VITE_OVERLAY)

    def repair(project: Project, n: int) -> None:
        project.edit(page, "<<input", f"<input data-n{n}")

    return mistake, attrs.evolve(removal, save=repair)


PEERS: dict[str, Callable[[], DevServer]] = {
    "vite": vite,
    "next": nextjs,
    "sveltekit": sveltekit,
}


def _vite_command(project: Project, port: int) -> Command:
    return Command(
        argv=(
            *("node", str(project.root / "node_modules/vite/bin/vite.js")),
            *("--host", "127.0.0.1", "--port", str(port), "--strictPort"),
        ),
        folder=project.root,
        env={"NO_COLOR": "1"},
    )


def _installed(name: str) -> Project:
    folder = cache.app_folder(name)
    for place in ("app", "src"):  # what is made by runs, such as pages; not what is installed
        shutil.rmtree(folder / place, ignore_errors=True)
    cache.install_node(name)
    return Project(folder)
