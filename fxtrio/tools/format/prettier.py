"""UI code through prettier, in one process for all texts. Called by `documents`.

Node does the work (`fxtrio/js/format/format.js`), with the prettier of the project when it has
one, or else with the one that fxtrio pins and installs with the first use.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

import attrs
import trio

from fxtrio.compile.bundling.installation import JS, tool
from fxtrio.compile.bundling.toolchain import ensure_installed
from fxtrio.errors import PlacedError
from fxtrio.node import find_node, tool_environment
from fxtrio.tools.format.result import Unformatted

_TAIL = 4000  # characters of Node's output that an error shows
_NAME = "prettier"


class PrettierFailed(PlacedError):
    """Prettier cannot work, for example because of the project's settings or plug-ins."""

    remedy = "Its message is below"

    def __init__(self, output: str) -> None:
        super().__init__("prettier", "it failed, and formatted nothing", output=output)


@attrs.frozen
class PrettierOrder:
    """What prettier is to format."""

    home: Path
    """The folder whose ``node_modules`` has prettier."""

    root: Path
    texts: Mapping[Path, str]
    static: bool = False
    """Whether no code of the project is run."""

    @property
    def cwd(self) -> Path:
        """Where Node runs: in no folder of a project whose code is not to be run."""
        return JS if self.static else self.root

    @property
    def env(self) -> dict[str, str] | None:
        """The environment of Node; None for this process's."""
        return tool_environment() if self.static else None

    @property
    def message(self) -> dict[str, Any]:
        """The order as ``fxtrio/js/format/reply.js`` takes it."""
        files = [{"path": str(path), "text": text} for path, text in self.texts.items()]
        home, root = str(self.home), str(self.root)
        return {"home": home, "root": root, "files": files, "static": self.static}


RunPrettier = Callable[[PrettierOrder], Awaitable[dict[str, Any]]]
"""Returns the reply of ``fxtrio/js/format/reply.js``. Raises PrettierFailed."""


async def run_prettier(order: PrettierOrder) -> dict[str, Any]:
    """Return what a process of Node replies that is there for one order."""
    node = await trio.to_thread.run_sync(find_node)
    done = await trio.run_process(
        [str(node.node), str(JS / "format" / "format.js")],
        stdin=json.dumps(order.message).encode(),
        capture_stdout=True,
        capture_stderr=True,
        check=False,
        cwd=order.cwd,
        env=order.env,
        deliver_cancel=_kill,
    )
    lines = done.stdout.splitlines()
    if done.returncode != 0 or not lines:
        raise PrettierFailed(done.stderr.decode("utf-8", "replace").strip()[-_TAIL:])
    reply: dict[str, Any] = json.loads(lines[-1])
    return reply


async def format_ui(
    root: Path,
    texts: Mapping[Path, str],
    *,
    report: Callable[[str], None],
    static: bool = False,
    run: RunPrettier = run_prettier,
) -> dict[Path, str | Unformatted]:
    """Return each of ``texts`` as prettier writes it.

    The keys are the absolute paths of their files, which need not exist; those that end in
    ``.fxl`` hold the UI half alone. What the project's `.prettierignore` names comes back as it
    is. With ``static`` no code of the project is run: prettier is fxtrio's own, and settings that
    are no plain JSON raise PrettierFailed. ``report`` gets a line for each thing that takes time;
    ``run`` has prettier format. Raises NodeMissing, ToolchainFailed and PrettierFailed.
    """
    if not texts:
        return {}
    own = None if static else own_home(root)
    home = own or await ensure_installed(tool(_NAME), report)
    answers = await run(PrettierOrder(home, root, texts, static))
    if "failed" in answers:
        raise PrettierFailed(answers["failed"])
    return {
        path: answer["text"]
        if "text" in answer
        else Unformatted(answer["line"], answer["column"], answer["message"])
        for path, answer in zip(texts, answers["files"], strict=True)
    }


def own_home(root: Path) -> Path | None:
    """Return the folder whose ``node_modules`` has the project's own prettier, if it has one."""
    for folder in (root, *root.parents):
        if (folder / "node_modules" / _NAME / "package.json").is_file():
            return folder
    return None


async def _kill(process: trio.Process) -> None:
    """End Node at once: it holds nothing that it must put in order."""
    process.kill()
