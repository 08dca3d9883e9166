"""UI code through prettier, in one process for all texts. Called by `documents`.

Node does the work (`fxtrio/js/format/format.js`), with the prettier of the project when it has
one, or else with the one that fxtrio pins and installs with the first use.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import trio

from fxtrio.compile.installation import JS, tool
from fxtrio.compile.toolchain import ensure_installed
from fxtrio.errors import FxtrioError
from fxtrio.format.outcome import Unformatted
from fxtrio.node import find_node, tool_environment

_TAIL = 4000  # characters of Node's output that an error shows
_NAME = "prettier"


class PrettierFailed(FxtrioError):
    """Prettier cannot work, for example because of the project's settings or plug-ins."""

    def __init__(self, cause: str) -> None:
        super().__init__(f"prettier: it formats nothing. Its message is below.\n{cause}")
        self.cause = cause


async def format_ui(
    root: Path,
    texts: Mapping[Path, str],
    *,
    report: Callable[[str], None],
    static: bool = False,
) -> dict[Path, str | Unformatted]:
    """Return each of ``texts`` as prettier writes it.

    The keys are the absolute paths of their files, which need not exist; those that end in
    ``.fxl`` hold the UI half alone. What the project's `.prettierignore` names comes back as it
    is. With ``static`` no code of the project is run: prettier is fxtrio's own, and settings that
    are no plain JSON raise PrettierFailed. ``report`` gets a line for each thing that takes time.
    Raises NodeMissing, ToolchainFailed and PrettierFailed.
    """
    if not texts:
        return {}
    own = None if static else _own_home(root)
    home = own or await ensure_installed(tool(_NAME), report)
    node = await trio.to_thread.run_sync(find_node)
    files = [{"path": str(path), "text": text} for path, text in texts.items()]
    order = {"home": str(home), "root": str(root), "files": files, "static": static}
    done = await trio.run_process(
        [str(node.node), str(JS / "format" / "format.js")],
        stdin=json.dumps(order).encode(),
        capture_stdout=True,
        capture_stderr=True,
        check=False,
        cwd=JS if static else root,
        env=tool_environment() if static else None,
        deliver_cancel=_kill,
    )
    lines = done.stdout.splitlines()
    if done.returncode != 0 or not lines:
        raise PrettierFailed(done.stderr.decode("utf-8", "replace").strip()[-_TAIL:])
    answers = json.loads(lines[-1])
    if "failed" in answers:
        raise PrettierFailed(answers["failed"])
    return {
        path: answer["text"]
        if "text" in answer
        else Unformatted(answer["line"], answer["column"], answer["message"])
        for path, answer in zip(texts, answers["files"], strict=True)
    }


def _own_home(root: Path) -> Path | None:
    """Return the folder whose ``node_modules`` has the project's own prettier, if it has one."""
    for folder in (root, *root.parents):
        if (folder / "node_modules" / _NAME / "package.json").is_file():
            return folder
    return None


async def _kill(process: trio.Process) -> None:
    """End Node at once: it holds nothing that it must put in order."""
    process.kill()
