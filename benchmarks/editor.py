"""How long `fx lsp` takes to answer.

    python -m benchmarks.editor [--rounds N] [--lines N] [--beside FX]

One large page in a project of 20, asked as an editor asks: an edit of one character and the
diagnostics of that version, completion, hover, definition, references, rename, and the format of
a page in which one component is untidy. With ``--beside``, the command ``fx`` of another
checkout, both servers run, and each question goes to one and then to the other.
Prints medians and 95th percentiles in ms, the CPU time of a server and its processes, which
other work on the machine leaves as it is, and the load of the machine.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path
from statistics import median, quantiles
from typing import Any

import attrs
import psutil
import trio

from tests.lsp.editor import FX_LSP, Editor, known, open_editor

PAGES = 20
PARTS = 40
"""Lines of one component."""

_CHECKED = 4.0
"""Seconds after which the checks of the last edits are done."""

GOAL = 150.0
"""Milliseconds, at the 95th percentile."""

_ITEM = """\
        <li key={{data.entries[{0}].id}}>
          <p>{{data.entries[{0}].message}}</p>
          <Link href={{`/?of=${{data.entries[{0}].id}}`}}>{{data.entries[{0}].name}}</Link>
        </li>
"""
_PYTHON = '''\
"""A large page."""

import attrs


@attrs.frozen
class NewEntry:
    name: str
    message: str


@server
async def load(request):
    entries = [{"id": 1, "name": "Ada", "message": "Hello"}]
    return {"entries": entries, "total": len(entries)}


@action
async def sign(request, entry: NewEntry):
    return {"number": 1}


'''
_UI = """\
import { Form, Link, useAction } from "fx/client";
"""
_PART = """\

function Part{0}({{ data }}) {{
  return (
    <ul>
"""
_PART_END = "    </ul>\n  );\n}\n"
_MAIN = """\

export default function Large({ data }) {
  const sign = useAction("sign");
  return (
    <ol title={data.total}>
      <Form action="sign">
        <input name="name" />
      </Form>
"""
_END = "    </ol>\n  );\n}\n"


def large_page(lines: int) -> str:
    """Return a page of about so many lines, an eighth of them Python."""
    helpers = "".join(f"def helper_{n}(x):\n    return x + {n}\n\n\n" for n in range(lines // 32))
    frame = _PYTHON + helpers + _UI
    items = (lines - (frame + _MAIN + _END).count("\n")) // PARTS
    parts, used = "", ""
    for part in range(items):
        listed = "".join(_ITEM.format(part * 8 + at) for at in range(8))
        parts += _PART.format(part) + listed + _PART_END
        used += f"      <Part{part} data={{data}} />\n"
    listed = "".join(_ITEM.format(number) for number in range(3))
    return frame + parts + _MAIN + used + listed + _END


def write_project(root: Path, lines: int) -> Path:
    """Write the project; returns the large page."""
    page = root / "pages" / "index.fxl"
    page.parent.mkdir()
    (root / "fx.config.json").write_text("{}")
    page.write_text(large_page(lines))
    for number in range(PAGES - 1):
        other = root / "pages" / "pages" / f"p{number}.fxl"
        other.parent.mkdir(exist_ok=True)
        other.write_text(_PYTHON + _UI + _MAIN + _ITEM.format(0) + _END)
    return page


def place(text: str, before: str) -> tuple[int, int]:
    """Return line and character behind ``before``."""
    lines = text[: text.rindex(before) + len(before)].split("\n")
    return len(lines) - 1, len(lines[-1])


@attrs.define
class Taken:
    """What one kind of question has taken."""

    times: list[float] = attrs.field(factory=list)
    """From the question to the answer (ms)."""

    cpu: float = 0.0
    """Of the server and its processes, over all rounds (ms)."""


@attrs.define
class _Side:
    """One server that is measured."""

    editor: Editor
    uri: str
    text: str
    taken: dict[str, Taken] = attrs.field(factory=lambda: defaultdict(Taken))


async def measure(rounds: int, lines: int, commands: list[list[str]]) -> list[dict[str, Taken]]:
    """Return what each kind of question has taken, for each of the servers."""
    async with AsyncExitStack() as stack:
        sides = []
        for command in commands:
            root = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            page = write_project(root, lines)
            opened = open_editor(root, deadline=1200.0, command=command)
            editor = await stack.enter_async_context(opened)
            text = page.read_text()
            uri = await editor.open(page)
            await known(editor, uri, place(text, "data.to"))
            await editor.until(partial(editor.diagnostics.__contains__, uri))
            await trio.sleep(5)  # until all that is done at the start is done
            _progress(f"'{' '.join(command)}' is ready")
            sides.append(_Side(editor, uri, text))
        version = 2
        for number in range(1, rounds + 1):
            await trio.sleep(_CHECKED)
            questions_of = [_questions(side.editor, side.uri, side.text, version) for side in sides]
            for name in questions_of[0]:
                for side, questions in zip(sides, questions_of, strict=True):
                    await _take(side, name, questions[name])
            version += 1
            newest = ((name, one.times[-1]) for name, one in sides[0].taken.items())
            progress = ", ".join(f"{name} {took:.0f}" for name, took in newest)
            _progress(f"round {number} of {rounds}: {progress}")
    return [side.taken for side in sides]


def _progress(line: str) -> None:
    """Say on standard error what has been done: a round takes five to ten seconds."""
    print(f"{line} [load {os.getloadavg()[0]:.1f}]", file=sys.stderr, flush=True)


async def _take(side: _Side, name: str, question: Callable[[], Awaitable[Any]]) -> None:
    cpu, start = cpu_time(side.editor), time.perf_counter()
    answer = await question()
    taken = side.taken[name]
    taken.times.append(1000 * (time.perf_counter() - start))
    taken.cpu += cpu_time(side.editor) - cpu
    assert answer, f"{name}: nothing was answered; {side.editor.diagnostics[side.uri]}"


def cpu_time(editor: Editor) -> float:
    """Return the CPU time of the server and its processes so far (ms)."""
    server = psutil.Process(editor.process.pid)
    times = [one.cpu_times() for one in (server, *server.children(recursive=True))]
    return 1000 * float(sum(one.user + one.system for one in times))


def _questions(
    editor: Editor, uri: str, text: str, version: int
) -> dict[str, Callable[[], Awaitable[Any]]]:
    async def diagnose() -> bool:
        line, character = place(text, "return x + 7")
        start, end = ({"line": line, "character": at} for at in (character - 1, character))
        # A name that nothing defines, and back.
        new = "z" if version % 2 == 0 else "7"
        await editor.write(uri, version, {"range": {"start": start, "end": end}, "text": new})
        await editor.until(lambda: editor.versions.get(uri) == version)
        found = [one["message"] for one in editor.diagnostics[uri] if "name 'z'" in one["message"]]
        return len(found) == (1 if version % 2 == 0 else 0)

    async def diagnose_types() -> bool:
        line, character = place(text, "data.entries[0].messa")
        start, end = ({"line": line, "character": at} for at in (character - 1, character))
        # A key that the loader does not return, and back.
        new, count = ("x", 1) if version % 2 == 0 else ("a", 0)
        await editor.write(uri, version, {"range": {"start": start, "end": end}, "text": new})

        def is_reported() -> bool:
            found = [one for one in editor.diagnostics[uri] if "'messxge'" in one["message"]]
            return editor.versions.get(uri) == version and len(found) == count

        await editor.until(is_reported)
        return True

    async def put(before: str, old: str, new: str) -> dict[str, int]:
        """Write ``new`` for ``old`` behind ``before``; return the position behind it."""
        line, character = place(text, before)
        start, end = ({"line": line, "character": at + character} for at in (0, len(old)))
        await editor.write(uri, version, {"range": {"start": start, "end": end}, "text": new})
        return {"line": line, "character": character + len(new)}

    def type_and_complete(before: str, new: str) -> Callable[[], Awaitable[Any]]:
        async def type_in() -> Any:
            return await editor.ask("completion", uri, **await put(before, "", new))

        async def ask_and_restore() -> Any:
            found = await type_in()
            await put(before, new, "")
            return found

        return ask_and_restore

    async def format_part() -> Any:
        before, tidy = f"<p>{{data.entries[{3 + version % 13}].", "message}</p>"
        line, character = place(text, before)
        at = {"line": line, "character": character + len("message")}
        await editor.write(uri, version, {"range": {"start": at, "end": at}, "text": "  "})
        options = {"tabSize": 2, "insertSpaces": True}
        params = {"textDocument": {"uri": uri}, "options": options}
        edits = await editor.connection.ask("textDocument/formatting", params)
        await put(before, "message  }</p>", tidy)
        return edits

    def ask(method: str, before: str, **more: Any) -> Callable[[], Awaitable[Any]]:
        return lambda: editor.ask(method, uri, *place(text, before), **more)

    return {
        # Nothing is checked meanwhile: the page is as it was when it was checked.
        "completion": ask("completion", "].me"),
        "hover": ask("hover", "].me"),
        "definition": ask("definition", "].me"),
        "references": ask("references", "data.to", context={"includeDeclaration": True}),
        "rename": ask("rename", "].na", newName="label"),
        "diagnostics after an edit": diagnose,
        "types after an edit": diagnose_types,
        "completion of a key, typed": type_and_complete("<ol title={data.total}>\n", "{data."),
        "completion of a tag, typed": type_and_complete("<ol title={data.total}>\n", "<Li"),
        "completion of a local, typed": type_and_complete("const sign = ", "use"),
        "hover after an edit": ask("hover", "].me"),
        "format": format_part,
    }


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--lines", type=int, default=1000)
    parser.add_argument("--beside", metavar="FX")
    options = parser.parse_args()
    commands = [FX_LSP, *([[options.beside, "lsp"]] if options.beside else [])]
    before = os.getloadavg()[0]
    found = trio.run(measure, options.rounds, options.lines, commands)
    print(f"{options.lines} lines, {PAGES} pages, {options.rounds} rounds; load {before:.1f}")
    sides = f"{'p50':>8}{'p95':>8}{'CPU':>8}" * len(found)
    print(f"{'':30}{sides}  ms{'; on the right: beside' if len(found) > 1 else ''}")
    for name in found[0]:
        figures = [one for side in found for one in _figures(side[name])]
        verdict = "" if figures[1] <= GOAL else f"  above {GOAL:g}"
        print(f"{name:30}" + "".join(f"{one:8.1f}" for one in figures) + verdict)


def _figures(taken: Taken) -> tuple[float, float, float]:
    times = taken.times
    p95 = quantiles(times, n=20)[-1] if len(times) > 1 else times[0]
    return median(times), p95, taken.cpu / len(times)


if __name__ == "__main__":
    main()
