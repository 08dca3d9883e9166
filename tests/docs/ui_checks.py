"""Checks of the UI code of many projects in one process of Node, whose start is most of one."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import attrs
import trio

from fxtrio.compile.bundling.installation import JS
from fxtrio.compile.check.ui_code import UiProblems, ui_found, ui_order
from fxtrio.compile.project import CheckedProject
from fxtrio.node import find_node, tool_environment

PROGRAM = """
import { createInterface } from 'node:readline';
const folder = process.argv[1];
const { listed, loadTools, lookAtAll } = await import(`${folder}/check/checker.js`);
const { pictureMistakes } = await import(`${folder}/pictures/check.js`);
for await (const line of createInterface({ input: process.stdin })) {
  const order = JSON.parse(line);
  const found = lookAtAll(await loadTools(order.toolchain), order);
  const problems = [...listed(found), ...(await pictureMistakes(order, found.looked))];
  console.log(JSON.stringify({ problems }));
}
"""
"""What `fxtrio/js/check/check.js` does for one order, for each line of the standard input."""


@attrs.frozen
class UiChecks:
    """The process that checks."""

    _process: subprocess.Popen[str]

    async def problems(self, root: Path, project: CheckedProject, toolchain: Path) -> UiProblems:
        """Return what `fxtrio.compile.check.ui_code.ui_problems` does."""
        order = json.dumps(ui_order(root, project, toolchain))
        return ui_found(root, json.loads(await trio.to_thread.run_sync(self._ask, order)))

    def _ask(self, order: str) -> str:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(f"{order}\n")
        self._process.stdin.flush()
        return self._process.stdout.readline()


@contextmanager
def ui_checks() -> Iterator[UiChecks]:
    """Run a process that checks for the length of the block."""
    command = [str(find_node().node), "--input-type=module", "--eval", PROGRAM, str(JS)]
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        encoding="utf-8",
        env=tool_environment(),
    ) as process:
        yield UiChecks(process)
