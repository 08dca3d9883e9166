"""UI code of another framework, rewritten by Node (`fxtrio/js/convert/convert.js`)."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal

import attrs
import trio

from fxtrio.compile.bundling.bundle_errors import BundlerCrashed
from fxtrio.compile.bundling.installation import JS
from fxtrio.compile.bundling.toolchain import ensure_toolchain
from fxtrio.node import find_node, tool_environment
from fxtrio.tools.convert.edits import Edit

_TAIL = 4000  # characters of Node's output that an error shows


@attrs.frozen
class UiFile:
    """A file to be looked at."""

    path: str
    """Where it will be."""

    text: str
    before: str = ""
    """Where it is."""


@attrs.frozen
class UiLeft:
    """What has to be done by hand."""

    offset: int
    """In the text before all edits."""

    message: str
    remedy: str


@attrs.frozen
class UiRewriting:
    """The edits to a file's UI code."""

    edits: tuple[Edit, ...]
    done: tuple[str, ...]
    left: tuple[UiLeft, ...]
    python: tuple[str, ...]
    """Lines for the Python half."""


async def rewrite_ui(
    framework: Literal["pyxle", "next"],
    files: Sequence[UiFile],
    context: dict[str, Any],
    *,
    report: Callable[[str], None],
) -> dict[str, UiRewriting]:
    """Return the edits of ``files``, by path; the files with mistakes of syntax have none.

    Raises ToolchainFailed, NodeMissing, and BundlerCrashed for a defect.
    """
    toolchain = await ensure_toolchain(report)
    node = await trio.to_thread.run_sync(find_node)
    order = {
        "toolchain": toolchain.as_posix(),
        "framework": framework,
        "files": [attrs.asdict(file) for file in files],
        "context": context,
    }
    script: Path = JS / "convert" / "convert.js"
    done = await trio.run_process(
        [str(node.node), str(script)],
        stdin=json.dumps(order).encode(),
        capture_stdout=True,
        capture_stderr=True,
        check=False,
        env=tool_environment(),
    )
    lines = done.stdout.splitlines()
    if done.returncode != 0 or not lines:
        raise BundlerCrashed(done.returncode, done.stderr.decode("utf-8", "replace")[-_TAIL:])
    texts = {file.path: file.text for file in files}
    return {
        one["path"]: _rewriting(one, texts[one["path"]]) for one in json.loads(lines[-1])["files"]
    }


def _rewriting(found: dict[str, Any], text: str) -> UiRewriting:
    at = _Offsets(text)
    return UiRewriting(
        tuple(Edit(at(one["start"]), at(one["end"]), one["text"]) for one in found["edits"]),
        tuple(found["done"]),
        tuple(UiLeft(at(one["offset"]), one["message"], one["remedy"]) for one in found["left"]),
        tuple(found["python"]),
    )


class _Offsets:
    """Offsets in UTF-16 units → offsets in characters."""

    def __init__(self, text: str) -> None:
        self._units = None if text.isascii() else text.encode("utf-16-le", "surrogatepass")

    def __call__(self, offset: int) -> int:
        if self._units is None:
            return offset
        return len(self._units[: 2 * offset].decode("utf-16-le", "surrogatepass"))
