"""A build while the one before is served: its pages, files and renders still work."""

from __future__ import annotations

import os
import re
import signal
import urllib.error
import urllib.request
from pathlib import Path

import psutil
import pytest

from tests.e2e.support import Server, fx, nodes_of, pause, served
from tests.trees import write_tree

LAYOUT = "export default ({ children }) => <main>{children}</main>;\n"


def write_site(root: Path, word: str, *more: str) -> None:
    """Write pages whose code and styles differ by ``word``; further pages move the others."""
    pages = {f"pages/{name}.fxl": f"export default () => <h1>{name}</h1>;\n" for name in more}
    write_tree(
        root,
        {
            **pages,
            "pages/layout.fxl": LAYOUT,
            "pages/styles.css": f"h1::after {{ content: '{word}'; }}\n",
            "pages/index.fxl": (
                'import "./styles.css";\n\n'
                f"export default () => <h1 title={{String(Math.random())}}>{word}</h1>;\n"
                "MEMO = False\n"
            ),
        },
    )


COMPRESSED = {".br", ".gz", ".zst"}
COMPRESSING = {"FX_COMPRESSION": "safe"}


def get(server: Server, path: str) -> tuple[int, str]:
    try:
        with urllib.request.urlopen(server.url + path, timeout=20) as response:
            return response.status, response.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, ""


def files_of(html: str) -> set[str]:
    return set(re.findall(r'(?:href|src)="(/_fx/[^"]+)"', html))


def kill_renderer(server: Server) -> None:
    """Kill the process that renders; the pool starts another one from the files that are there."""
    [node] = nodes_of(server.process.pid)
    os.kill(node, signal.SIGKILL)
    for _ in range(400):
        found = [pid for pid in nodes_of(server.process.pid) if pid != node]
        if found and psutil.Process(found[0]).status() != psutil.STATUS_ZOMBIE:
            return
        pause()
    raise AssertionError("no process has taken its place")


@pytest.mark.nightly
def test_the_former_build_works_until_the_build_after_the_next(tmp_path: Path) -> None:
    write_site(tmp_path, "first")
    fx("build", cwd=tmp_path, env=COMPRESSING)
    with served(tmp_path) as server:
        html = get(server, "/")[1]
        first = files_of(html)
        contents = {file: get(server, file) for file in first}
        assert {status for status, _ in contents.values()} == {200}
        write_site(tmp_path, "second", "about", "aaa")
        fx("build", cwd=tmp_path, env=COMPRESSING)
        # The server of the first build goes on with it, whatever it has to start anew.
        assert {file: get(server, file) for file in first} == contents
        # Another process may serve the new pages already, and their files are asked for here.
        files = (tmp_path / ".fx/build/client").iterdir()
        new = {f"/_fx/{path.name}" for path in files if path.suffix not in COMPRESSED}
        assert {get(server, file)[0] for file in new if not file.endswith(".map")} == {200}
        assert {get(server, file)[0] for file in new if file.endswith(".map")} == {404}
        kill_renderer(server)
        assert ">first</h1>" in get(server, "/")[1]
        assert get(server, "/about")[0] == 404
    with served(tmp_path) as server:
        html = get(server, "/")[1]
        second = files_of(html)
        assert ">second</h1>" in html
        assert second - first
        assert {file: get(server, file) for file in first} == contents
        assert {get(server, file)[0] for file in second} == {200}
        fx("build", cwd=tmp_path, env=COMPRESSING)  # of the same code: nothing becomes older by it
        assert {file: get(server, file) for file in first} == contents
    write_site(tmp_path, "third", "about")
    fx("build", cwd=tmp_path, env=COMPRESSING)
    with served(tmp_path) as server:
        assert {get(server, file)[0] for file in second} == {200}
        assert {get(server, file)[0] for file in first - second} == {404}
