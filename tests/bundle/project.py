"""Small projects that are staged by hand, bundled, and rendered by Node."""

from __future__ import annotations

import json
import subprocess
from functools import partial
from pathlib import Path
from typing import Any

import attrs
import trio

from fxtrio.compile.bundling.bundle import BundlePlan, BundleResult, BundleView, bundle
from fxtrio.compile.bundling.bundle_errors import BundleFailed, BundleProblem
from fxtrio.compile.bundling.toolchain import ensure_toolchain
from fxtrio.ssr.process.launch import WORKER

_RENDER = """
const [worker, bundle, page, state] = process.argv.slice(1);
const { loadBundle } = await import(`${worker}/bundle.cjs`);
const { Stacks } = await import(`${worker}/stacks.cjs`);
const app = await loadBundle(bundle);
const { pages, buildId } = app;
let rendered;
try { rendered = app.render(Number(page), JSON.parse(state)); }
catch (error) { rendered = { stack: new Stacks().text(error) }; }
const own = (await globalThis.ownReact) ?? null;
process.stdout.write(JSON.stringify({ ...rendered, pages, buildId, own }));
"""

_COMPILED = """
const [worker, bundle] = process.argv.slice(1);
await import(`${worker}/options.cjs`);
const { compileBundle } = await import(`${worker}/bundle.cjs`);
process.stdout.write(JSON.stringify({ used: compileBundle(bundle).cachedDataRejected === false }));
"""

_STREAM = """
import { Writable } from 'node:stream';
const [worker, bundle, page, state, value] = process.argv.slice(1);
const { loadBundle } = await import(`${worker}/bundle.cjs`);
const app = await loadBundle(bundle);
let head = null;
const parts = [];
const destination = new Writable({
  write(part, encoding, done) { parts.push(part); done(); },
  final(done) {
    const html = Buffer.concat(parts).toString();
    process.stdout.write(JSON.stringify({ head, html }));
    done();
  },
});
let arrive;
const late = new Promise((resolve) => { arrive = resolve; });
const stream = app.stream(Number(page), JSON.parse(state), {
  deferred: () => late,
  onShellReady: (given) => {
    head = given;
    queueMicrotask(() => stream.pipe(destination));
    setTimeout(() => arrive(JSON.parse(value)), 50);
  },
  onShellError: (error) => { throw error; },
  onError: (error) => { throw error; },
});
"""


@attrs.define
class Project:
    """A project folder with its build folder. Views have the id of their page's place."""

    root: Path
    views: list[BundleView] = attrs.field(factory=list)
    modules: list[str] = attrs.field(factory=list)

    @property
    def staging(self) -> Path:
        """The build folder."""
        return self.root / ".fx" / "build"

    def add(self, source: str, ui: str, python: str = "") -> None:
        """Write a page file whose Python half comes first, and stage its UI half."""
        self.write(source, f"{python}{ui}")
        blanked = "\n" * python.count("\n")
        self.write(f".fx/build/ui/{source}.tsx", f"{blanked}{ui}")
        if source not in self.modules:
            self.modules.append(source)

    def page(self, source: str, ui: str, python: str = "", **view: Any) -> int:
        """Add a page file and its view; return the view's id."""
        self.add(source, ui, python)
        id = len(self.views)
        self.views.append(BundleView(**{"id": id, "kind": "page", "module": source, **view}))
        return id

    def write(self, path: str, content: str | bytes) -> None:
        """Write any file of the project."""
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content if isinstance(content, bytes) else content.encode())

    def plan(self, **changes: Any) -> BundlePlan:
        """Return what to bundle."""
        fields: dict[str, Any] = {
            "root": self.root,
            "staging": self.staging,
            "mode": "production",
            "modules": tuple(self.modules),
            "views": tuple(self.views),
        }
        return BundlePlan(**{**fields, **changes})

    def build(self, **changes: Any) -> BundleResult:
        """Bundle it. Raises what `bundle` raises."""
        return trio.run(partial(_build, self.plan(**changes)))

    def problems(self, **changes: Any) -> tuple[BundleProblem, ...]:
        """Bundle it and return why that failed."""
        try:
            self.build(**changes)
        except BundleFailed as failure:
            return failure.problems
        raise AssertionError("the bundle was made")

    def client(self) -> dict[str, str]:
        """Return the text of every file for the browser, by name."""
        return _texts(self.staging / "client")

    def server(self) -> dict[str, str]:
        """Return the text of the SSR bundle and its source map, by name."""
        return _texts(self.staging / "ssr")

    def render(self, result: BundleResult, view: int, /, **state: Any) -> dict[str, Any]:
        """Render a page in a Node process, as an SSR worker does."""
        return render(self.staging, result, view, **state)


def render(staging: Path, result: BundleResult, view: int, /, **state: Any) -> dict[str, Any]:
    """Return ``{head, html, pages, buildId, own}``, or ``stack`` instead of the first two."""
    return _run(
        _RENDER, staging / "ssr" / result.server, str(view), json.dumps(_state(result, view, state))
    )


def uses_compiled_code(bundle: Path) -> bool:
    """Return whether a worker takes the compiled code beside a bundle."""
    return bool(_run(_COMPILED, bundle)["used"])


def stream(
    staging: Path, result: BundleResult, view: int, data: dict[str, Any], /, **state: Any
) -> dict[str, Any]:
    """Return ``{head, html}`` of a page that is streamed, its ``data`` after its shell."""
    whole = {**_state(result, view, state), "deferred": True}
    return _run(
        _STREAM, staging / "ssr" / result.server, str(view), json.dumps(whole), json.dumps(data)
    )


def _state(result: BundleResult, view: int, state: dict[str, Any]) -> dict[str, Any]:
    client = result.clients[view]
    return {
        "ok": True,
        "statusCode": 200,
        "routePath": "/",
        "requestedPath": "/",
        "page": {**client, "id": view},
        "params": {},
        "props": {"data": {}, "layoutData": {}},
        "layouts": [None] * len(client["layouts"]),
        "head": [],
        "ttl": 0,
        **state,
    }


def _run(script: str, bundle: Path, *arguments: str) -> dict[str, Any]:
    command = ["node", "--max-old-space-size=512", "--input-type=module", "-e", script]
    done = subprocess.run(
        [*command, str(WORKER.parent), str(bundle), *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def original_place(file: Path, needle: str) -> str:
    """Return ``source:line:column`` that a built file's map gives for ``needle`` in it."""
    script = """
    import fs from 'node:fs'; import path from 'node:path'; import { SourceMap } from 'node:module';
    const [file, needle] = process.argv.slice(1);
    const code = fs.readFileSync(file, 'utf8');
    const at = code.indexOf(needle);
    if (at === -1) throw new Error(`${needle} is not in ${file}`);
    const before = code.slice(0, at).split('\\n');
    const map = new SourceMap(JSON.parse(fs.readFileSync(`${file}.map`, 'utf8')));
    const entry = map.findEntry(before.length - 1, before.at(-1).length);
    const source = path.resolve(path.dirname(file), entry.originalSource);
    process.stdout.write(`${source}:${entry.originalLine + 1}:${entry.originalColumn + 1}`);
    """
    done = subprocess.run(
        ["node", "--input-type=module", "-e", script, str(file), needle],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


async def _build(plan: BundlePlan) -> BundleResult:
    with trio.fail_after(120):
        return await bundle(plan, toolchain=await ensure_toolchain(print))


def _texts(folder: Path) -> dict[str, str]:
    return {
        path.name: path.read_text("utf-8", "replace") for path in folder.iterdir() if path.is_file()
    }
