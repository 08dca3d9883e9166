"""How long the types of a project take: ``python -m benchmarks.types``.

For 1, 20 and 100 pages, half of them without annotations: the first run of `fx typecheck`,
with nothing written yet, a second one, and the check that `fx dev` makes after the UI half or
the Python half of one page was saved. Prints the median of some rounds, in wall time and in
CPU time of all processes, with the load of the machine.
"""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from statistics import median

import click
import trio

from fxtrio.compile.project import CheckedProject, check_project
from fxtrio.config import Config
from fxtrio.tools.types.gather.gatherer_process import project_types
from fxtrio.tools.types.report.checking import TypeCheck
from fxtrio.tools.types.report.compiler import ensure_compiler
from fxtrio.tools.types.ui.virtual_project import FOLDER, TypesFolder

STORE = """import attrs


@attrs.define
class Note:
    id: int
    title: str
    tags: list[str] = attrs.field(factory=list)


NOTES: dict[int, Note] = {}


def newest(count):
    return [note for note in NOTES.values() if note.id > count]
"""
PAGE = """from store import NOTES, Note, newest


@server
async def load(request){returns}:
    notes = newest({number})
    first = notes[0] if notes else None
    return {{"notes": notes, "count": len(NOTES), "first": first}}


@action
async def add(request, note: Note):
    return {{"id": note.id}}


import {{ useState }} from "react";
import {{ Form, Link, useAction }} from "fx/client";

export default function Page({{ data }}) {{
  const [open, setOpen] = useState(null);
  const add = useAction("add");
  return (
    <section onClick={{() => setOpen(data.count)}}>
      <h1>{{data.first ? data.first.title : open}}</h1>
      {{data.notes.map((note) => (
        <Link key={{note.id}} href="/page{number}">
          {{note.title.toUpperCase()}} {{note.tags.join()}}
        </Link>
      ))}}
      <Form action="add">
        {{({{ fields }}) => <input name="title" title={{fields.title?.[0]}} />}}
      </Form>
      {{add.error}}
    </section>
  );
}}
"""


def write_project(root: Path, pages: int) -> None:
    """Write a project of so many pages."""
    (root / "pages").mkdir(parents=True)
    (root / "store.py").write_text(STORE, "utf-8")
    for number in range(pages):
        returns = " -> dict[str, object]" if number % 2 else ""
        text = PAGE.format(number=number, returns=returns)
        (root / "pages" / f"page{number}.fxl").write_text(text, "utf-8")


def cpu() -> float:
    """Return the CPU time of all processes that have ended, and of this one (seconds)."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


async def timed(work: Callable[[], Awaitable[object]]) -> tuple[float, float]:
    """Return the wall time and the CPU time of some work (seconds)."""
    before, started = cpu(), time.perf_counter()
    await work()
    return time.perf_counter() - started, cpu() - before


async def one_round(root: Path, compiler: Path) -> dict[str, tuple[float, float]]:
    """Return the times of each case for the project in ``root``."""
    command = [sys.executable, "-m", "fxtrio", "typecheck", "--root", str(root), "--no-python"]

    async def typecheck() -> None:
        await trio.run_process(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    await trio.to_thread.run_sync(shutil.rmtree, root / FOLDER, True)
    found = {"cold": await timed(typecheck), "again": await timed(typecheck)}
    check = TypeCheck(TypesFolder(root, compiler))
    project = check_project(root, Config())
    types = await project_types(root, project)
    await check.run(project, types)

    async def save(before: str, after: str) -> CheckedProject:
        page = trio.Path(root / "pages" / "page0.fxl")
        text = await page.read_text("utf-8")
        await page.write_text(text.replace(before, after, 1), "utf-8")
        return check_project(root, Config())

    saved = await save("<section", "<section hidden")
    found["UI saved"] = await timed(lambda: check.run(saved, types))
    again = await save('"count": len(NOTES)', '"count": len(NOTES) + 1')

    async def check_python() -> None:
        await check.run(again, await project_types(root, again))

    found["Python saved"] = await timed(check_python)
    return found


@click.command
@click.option("--rounds", default=5, show_default=True)
@click.option("--pages", default="1,20,100", show_default=True)
def main(rounds: int, pages: str) -> None:
    """Measure the types of projects."""
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores, medians of {rounds} rounds")
    for count in map(int, pages.split(",")):
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder) / "project"
            write_project(root, count)
            trio.run(measure, root, count, rounds)


async def measure(root: Path, pages: int, rounds: int) -> None:
    """Print the times for a project."""
    compiler = await ensure_compiler(print)
    found = [await one_round(root, compiler) for _ in range(rounds)]
    for case in found[0]:
        wall = median(one[case][0] for one in found)
        used = median(one[case][1] for one in found)
        print(f"{pages:4} pages  {case:13} {1000 * wall:6.0f} ms   CPU {1000 * used:6.0f} ms")


if __name__ == "__main__":
    main()
