"""The five tools, run on a project with hostile files in it."""

from __future__ import annotations

import subprocess
import sys
import urllib.error
import urllib.request
from contextlib import suppress
from functools import partial
from pathlib import Path

import trio

from fxtrio.tools.format.rewrite_files import format_files
from tests.e2e.support import serving
from tests.lsp.editor import open_editor
from tests.ports import free_port
from tests.trees import write_tree

HEALTHY = """\
@server
async def load(request):
    return {"x": "healthy"}


export default function Page({ data }) {
  return <p>{data.x}</p>;
}
"""
FX = (sys.executable, "-P", "-m", "fxtrio")
_DEADLINE = 300.0


def write_project(root: Path, files: dict[str, bytes]) -> list[Path]:
    """Write a project of one page that is fine, and of hostile ones; return these."""
    write_tree(root, {"pages/index.fxl": HEALTHY, "fx.config.json": "{}"})
    (root / "pages" / "api").mkdir(exist_ok=True)
    paths = []
    for number, data in enumerate(files.values()):
        path = root / "pages" / f"p{number}.fxl"
        path.write_bytes(data)
        paths.append(path)
    return paths


def run(root: Path, *arguments: str) -> str:
    """Run a command that may find mistakes, and may not fall over them; return what it says."""
    done = subprocess.run([*FX, *arguments], cwd=root, capture_output=True, timeout=_DEADLINE)
    output = (done.stdout + done.stderr).decode("utf-8", "replace")
    assert done.returncode in (0, 1), (arguments, done.returncode, output[-3000:])
    assert "Traceback (most recent call last)" not in output, (arguments, output[-3000:])
    return output


async def edit(root: Path, files: list[Path]) -> None:
    """Open every file in an editor, then ask something of the page that is fine."""
    healthy = root / "pages" / "index.fxl"
    async with open_editor(root, deadline=_DEADLINE, imports=False) as editor:
        for path in files:
            uri = await editor.open(path, path.read_bytes().decode("utf-8", "replace"))
            await editor.ask("hover", uri, 0, 0)
            await editor.until(partial(editor.diagnostics.__contains__, uri))
        uri = await editor.open(healthy)
        await editor.until(lambda: uri in editor.diagnostics)
        assert editor.diagnostics[uri] == []


async def format_all(root: Path, files: list[Path]) -> None:
    """Format every file by itself: none may be changed into another program, or end it."""
    for path in files:
        with trio.fail_after(_DEADLINE):
            await format_files(root, [(path, path.read_bytes())], report=print, static=True)


def develop(root: Path, files: dict[str, bytes]) -> None:
    """Save every file below `fx dev`, which shows the page that is fine meanwhile and after."""
    port = free_port()
    with serving([*FX, "dev", "--port", str(port)], root, port) as server:
        write_project(root, files)
        texts = [_get(f"{server.url}/p{number}") for number in range(len(files))]
        texts.append(_get(server.url))
        for path in (root / "pages").glob("p*.fxl"):
            path.unlink()
        texts.append(_get(server.url))
        assert server.process.poll() is None, server.output()[-3000:]
        assert ["healthy" in text for text in texts[-2:]] == [True, True], texts[-2:]


def _get(url: str) -> str:
    with suppress(urllib.error.HTTPError), urllib.request.urlopen(url, timeout=60) as response:
        return str(response.read(), "utf-8", "replace")
    return ""
