"""Whatever the tree and the URL: hooks get the route whose code then runs."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import trio
from hypothesis import given, settings
from hypothesis import strategies as st

from fx.testing import SocketRejected, open_app
from fxtrio.routes.scan import build_tree
from tests.short import amount
from tests.trees import page, write_tree

CODE = """
    @server
    async def load(request):
        request.app.state.ran.append(("page", {source!r}, dict(request.path_params)))
        return {{}}

    @action
    async def act(request):
        request.app.state.ran.append(("action", {source!r}, dict(request.path_params)))
        return {{}}

    @stream
    async def values(request):
        request.app.state.ran.append(("stream", {source!r}, dict(request.path_params)))
        yield 1

    def to_markdown(ctx):
        params = dict(ctx.request.path_params)
        ctx.request.app.state.ran.append(("markdown", {source!r}, params))
        return "text"

    async def websocket(ws):
        ws.app.state.ran.append(("websocket", {source!r}, dict(ws.path_params)))
        await ws.accept()
    """
ENDPOINT = """
    async def endpoint(request):
        request.app.state.ran.append(("api", {source!r}, dict(request.path_params)))
        return {{}}
    """
HOOK = """
    from fx.runtime import route_of

    async def watch(connection):
        route = route_of(connection)
        told = (route.kind, route.source, dict(route.params))
        connection.app.state.judged.append(told)
    """

folders = st.sampled_from(["a", "b.md", "(group)", "[x]", "[y]", "api", "api"])
files = st.sampled_from(["a", "b", "a.md", "index", "[x]", "[...x]", "[[...x]]"])
trees = st.lists(
    st.tuples(st.lists(folders, max_size=2).map(tuple), files), min_size=4, max_size=12, unique=True
)
segments = st.sampled_from(["a", "b", "api", "a", "api", "%61", "b.md", "a%2Fb", "a%2emd", "index"])
odd = st.sampled_from(["", "", "", "", "/", "//", "/.", "/..", "%2F", ".md", "%2e", "%00", "%ff"])
urls = st.tuples(st.lists(segments, max_size=3).map("/".join), odd).map(
    lambda two: "/" + "".join(two)
)


def sound(tree: list[tuple[tuple[str, ...], str]]) -> list[str]:
    """Return the files of a random tree that can be one app together."""
    files: list[str] = []
    for folder, name in tree:
        more = [*files, "/".join((*folder, name)) + (".py" if "api" in folder else ".fxl")]
        if not build_tree(more).problems:
            files = more
    return files


def written(files: list[str], root: Path) -> None:
    sources = {f"pages/{file}": ENDPOINT if file.endswith(".py") else CODE for file in files}
    texts = {source: code.format(source=source) for source, code in sources.items()}
    pages = {
        source: page(text) if source.endswith(".fxl") else text for source, text in texts.items()
    }
    write_tree(root, {"watch_hook.py": HOOK, **pages})


async def ask_everything(root: Path, paths: list[str], base: str) -> list[tuple[Any, Any, str]]:
    """Return what hooks got and what ran, for each form of each URL."""
    hooks = {"pages": ["watch_hook.watch"], "apis": ["watch_hook.watch"]}
    found: list[tuple[Any, Any, str]] = []
    async with open_app(root, llms=True, base_url=base, route_middleware=hooks) as client:
        state = client.app.state
        for path in paths:
            url = base + path
            for form in ("html", "head", "accept", "md", "action", "stream", "socket"):
                state.ran, state.judged = [], []
                if form in ("html", "head"):
                    await client.request("GET" if form == "html" else "HEAD", url)
                elif form == "accept":
                    await client.get(url, headers={"accept": "text/markdown"})
                elif form == "md":
                    await client.get(f"{url}.md")
                elif form == "action":
                    await client.post(f"{base}/api/__actions{path}/act", json={})
                elif form == "stream":
                    await client.get(f"{base}/api/__streams{path}/values")
                else:
                    try:
                        async with client.websocket(url):
                            pass
                    except SocketRejected:
                        pass
                found.append((state.judged, state.ran, f"{form} {url}"))
    return found


@given(trees, st.lists(urls, min_size=1, max_size=8), st.sampled_from(["", "/app"]))
@settings(max_examples=amount(20, short=10, long=300))
def test_hooks_get_the_route_whose_code_runs(
    tree: list[tuple[tuple[str, ...], str]], paths: list[str], base: str
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        files = sound(tree)
        written(files, root)
        for judged, ran, what in trio.run(ask_everything, root, paths, base):
            assert ran == judged, (files, what)
            assert len(judged) <= 1, (files, what)
