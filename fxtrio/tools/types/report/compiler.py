"""The native TypeScript compiler: a folder with settings in, what it has to say out."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import attrs
import trio

from fxtrio.compile.bundling.installation import tool
from fxtrio.compile.bundling.toolchain import ensure_installed
from fxtrio.errors import PlacedError
from fxtrio.node import tool_environment

_TAIL = 4000  # characters
_MOST_CHECKERS = 4  # what the compiler takes itself
_FILES_OF_A_CHECKER = 10
_LINE = re.compile(r"(?P<path>[^\n]+?)\((?P<line>\d+),(?P<column>\d+)\): error TS(?P<code>\d+): ")
_GLOBAL = re.compile(r"error TS(\d+): (.*)")


class CompilerFailed(PlacedError):
    """The compiler of TypeScript could not do its work: a defect."""

    remedy = "Report this with the lines below"

    def __init__(self, code: int, output: str) -> None:
        super().__init__("fx typecheck", f"the compiler ended with {code}", output=output[-_TAIL:])
        self.code = code
        self.output = output


@attrs.frozen
class Diagnostic:
    """One mistake, as the compiler tells it."""

    path: str
    """As the compiler names it: relative to the folder of its settings."""

    line: int
    """1-based."""

    column: int
    """1-based, in UTF-16 units."""

    code: int
    message: str
    """The first line."""

    details: tuple[str, ...] = ()
    """Further lines, without their indentation."""

    @property
    def whole(self) -> str:
        """All lines."""
        return "\n".join((self.message, *self.details))


PACKAGES = ("typescript", "@types/react", "@types/react-dom")
"""The packages installed for it, from the lock file."""


async def ensure_compiler(report: Callable[[str], None]) -> Path:
    """Return where TypeScript and the types of React are; see `ensure_installed`."""
    return await ensure_installed(tool(*PACKAGES), report)


async def compile_types(folder: Path, compiler: Path) -> tuple[Diagnostic, ...]:
    """Return the problems of the files that ``folder / "tsconfig.json"`` names.

    Cancelling it kills the compiler. Raises CompilerFailed.
    """
    settings = json.loads(await trio.Path(folder / "tsconfig.json").read_bytes())
    known_file = folder / settings["compilerOptions"].get("tsBuildInfoFile", "")
    before = await trio.to_thread.run_sync(_global_files, known_file)
    command = [
        str(compiler_program(compiler)),
        *("-p", "tsconfig.json", "--pretty", "false"),
        *("--checkers", str(_checkers(len(settings["files"])))),
    ]
    found = await _run(command, folder)
    if before and before != await trio.to_thread.run_sync(_global_files, known_file):
        # The compiler looks only at the files that import the one with other global names.
        known_file.unlink(missing_ok=True)
        found = await _run(command, folder)
    return found


def _global_files(known_file: Path) -> dict[str, object]:
    """Return the files that declare names everywhere, each with the digest of its text.

    ``known_file`` is what the compiler has stored of its last run.
    """
    try:
        known = json.loads(known_file.read_bytes())
        files = zip(known["fileNames"], known["fileInfos"], strict=True)
        return {
            name: one["version"]
            for name, one in files
            if isinstance(one, dict) and one.get("affectsGlobalScope")
        }
    except (OSError, ValueError, KeyError):  # the first run, or one that was killed
        return {}


async def _run(command: Sequence[str], folder: Path) -> tuple[Diagnostic, ...]:
    done = await trio.run_process(
        command,
        capture_stdout=True,
        stderr=subprocess.STDOUT,
        check=False,
        cwd=folder,
        env=tool_environment(),
        deliver_cancel=_kill,
    )
    output = done.stdout.decode("utf-8", "replace")
    found = tuple(read_output(output))
    if (done.returncode not in (0, 1, 2)) or (done.returncode != 0 and not found):
        raise CompilerFailed(done.returncode, output)
    return found


def _checkers(files: int) -> int:
    """Return how many threads shall check so many ``files``.

    Each one reads the types of the DOM and of React for itself, which takes more CPU time than ten
    pages do.
    """
    return min(_MOST_CHECKERS, os.cpu_count() or 1, 1 + files // _FILES_OF_A_CHECKER)


def compiler_program(compiler: Path) -> Path:
    """Return the program itself: Node would take 60 ms to start it."""
    found = sorted((compiler / "node_modules" / "@typescript").glob("typescript-*/lib/tsc*"))
    programs = [path for path in found if path.name in ("tsc", "tsc.exe")]
    if not programs:
        raise CompilerFailed(127, "there is no TypeScript for this machine")
    return programs[0]


def read_output(output: str) -> Iterator[Diagnostic]:
    """Yield what the compiler has written. Raises CompilerFailed for mistakes of settings."""
    head: re.Match[str] | None = None
    message, details = "", list[str]()
    for line in [*output.splitlines(), "end"]:
        if head is not None and line.startswith(" "):
            details.append(line.strip())
            continue
        if head is not None:
            place = int(head["line"]), int(head["column"])
            yield Diagnostic(head["path"], *place, int(head["code"]), message, tuple(details))
        head = _LINE.match(line)
        details = []
        if head is not None:
            message = line[head.end() :]
        elif _GLOBAL.match(line):
            raise CompilerFailed(1, line)


async def _kill(process: trio.Process) -> None:
    """End the compiler at once: it holds nothing that it must put in order."""
    process.kill()
