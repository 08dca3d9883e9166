"""The app whose size and load grow: a page of rows, and as many other pages as are wanted."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

ROWS_PAGE = """\
import itertools

turn = itertools.count()


@server
async def load(request):
    count = int(request.path_params["count"])
    rows = [{"id": one, "name": f"Person {one}", "amount": one * 1.25} for one in range(count)]
    # Another number for each request: without it the render would be cached.
    return {"rows": rows, "turn": next(turn)}


export default function Rows({ data }) {
  return (
    <table data-turn={data.turn}>
      <tbody>
        {data.rows.map((row) => (
          <tr key={row.id}>
            <td>{row.id}</td>
            <td>{row.name}</td>
            <td>{row.amount}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
"""

HELLO_PAGE = """\
@server
async def load(request):
    return {"message": "Hello"}


export default function Hello({ data }) {
  return <h1>{data.message}</h1>;
}
"""

BUILD_TIMEOUT = 900.0  # seconds


def write_app(root: Path, pages: int, others: Mapping[str, str] | None = None) -> float:
    """Write a project with ``pages`` pages, at least two, and ``others`` by name; build it.

    Returns the CPU time of the build (seconds).
    """
    folder = root / "pages"
    folder.mkdir(parents=True)
    (folder / "hello.fxl").write_text(HELLO_PAGE, "utf-8")
    (folder / "rows").mkdir()
    (folder / "rows/[count].fxl").write_text(ROWS_PAGE, "utf-8")
    for number in range(pages - 2):
        section = folder / f"section{number % 10}"
        section.mkdir(exist_ok=True)
        (section / f"page{number}.fxl").write_text(HELLO_PAGE, "utf-8")
    for name, page in (others or {}).items():
        (folder / name).write_text(page, "utf-8")
    (root / "fx.config.json").write_text('{"name": "Growth"}', "utf-8")
    before = _children()
    command = [sys.executable, "-m", "fxtrio", "build"]
    build = subprocess.run(command, cwd=root, timeout=BUILD_TIMEOUT, capture_output=True, text=True)
    if build.returncode:
        raise SystemExit(f"fx build failed.\n{build.stderr[-2000:].strip()}")
    return _children() - before


def _children() -> float:
    """Return the CPU time of the processes that have ended so far (seconds)."""
    times = os.times()
    return times.children_user + times.children_system
