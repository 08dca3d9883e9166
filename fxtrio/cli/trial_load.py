"""Loads the server bundle of a build once, as servers will. Called by `fx build`.

A module that fails then, such as one that reads `document` at its top, would keep every server
from starting.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

from fxtrio.compile.bundling.bundle_errors import BundleFailed, BundleProblem
from fxtrio.compile.problems import frame_of
from fxtrio.config import Config
from fxtrio.errors import display_path
from fxtrio.manifest import Manifest
from fxtrio.ssr.errors import SsrStartFailed, place_in_stack
from fxtrio.ssr.process.launch import choose_launch
from fxtrio.ssr.trial_start import try_start

_FAILED = "exited with code 1"
"""What a worker does whose bundle throws; it has printed the error."""

_FRAME = "    at "
_PACKAGE = re.compile(r"^    at .*?/node_modules/((?:@[^/]+/)?[^/]+)/", re.MULTILINE)
_REMEDY = "Move it into a component, an effect or a function"
_EXITS = "Look for process.exit() in modules that pages import"
_IN_BROWSERS = "Import it in browsers only: await import('{}') in an effect"


async def require_loadable(root: Path, config: Config, folder: Path, manifest: Manifest) -> None:
    """Load the server bundle of the build in ``folder``, of the project in ``root``.

    Raises BundleFailed with the place that fails, or the import of the package that does;
    NodeMissing.
    """
    launch = choose_launch(folder, manifest, config)
    try:
        await try_start(launch)
    except SsrStartFailed as error:
        raise BundleFailed((as_problem(error, root),)) from error


def as_problem(error: SsrStartFailed, root: Path) -> BundleProblem:
    """Return why a bundle does not load, at its place in the project in ``root``.

    That is where a package is imported which fails.
    """
    bundle = error.bundle
    said = _said(error)
    cause, remedy = (said, _REMEDY) if said else (f"the process {error.cause}", _ending(error))
    stack = "\n".join(line for line in error.log.splitlines() if str(bundle) not in line)
    file, line, column = place_in_stack(stack, root)
    package = _PACKAGE.search(stack)
    if package is not None and not file:
        file, line, column = _import_of(package[1], bundle)
        cause = f"the package '{package[1]}' fails: {cause.partition('. ')[0]}"
        remedy = _IN_BROWSERS.format(package[1])
    detail = cause if ". " in cause else f"{cause.rstrip('.')}. {remedy}"
    message = f"no server can load this: {detail.rstrip('.')}."
    if not file:
        return BundleProblem("", 0, 0, message)
    lines = enumerate(Path(file).read_text("utf-8", "replace").split("\n"), 1)
    around = [(number, text) for number, text in lines if abs(number - line) < 2]
    frame = frame_of(around, line, column)
    return BundleProblem(display_path(Path(file)), line, column, message, frame)


def _said(error: SsrStartFailed) -> str:
    """Return the error that was printed, without its stack; "" where none was."""
    lines = error.log.splitlines()
    first = next((at for at, line in enumerate(lines) if line.startswith(_FRAME)), len(lines))
    return lines[first - 1] if first and error.cause == _FAILED else ""


def _ending(error: SsrStartFailed) -> str:
    """Return the remedy for a process that ended and printed no error."""
    return _EXITS if error.cause.startswith("exited") else _REMEDY


def _import_of(package: str, bundle: Path) -> tuple[str, int, int]:
    """Return the first place in the project's own modules of a bundle that names a package."""
    module = rf"(?:{re.escape(package)})"
    named = re.compile(rf"""(?:from|import)\s*(?:\(\s*)?(["'])({module})(?:/[^"']*)?\1""")
    for source in json.loads(bundle.with_name(f"{bundle.name}.map").read_text())["sources"]:
        file = (bundle.parent / source).resolve()
        if "node_modules" in file.parts or not file.is_file():
            continue
        text = file.read_text("utf-8", "replace")
        if found := named.search(text):
            before = text[: found.start(2)]
            return str(file), before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1
    return "", 0, 0
