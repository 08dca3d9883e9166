"""One `fx dev` for many tests: after each of them its project is as it was before."""

from __future__ import annotations

import re
import sys
import time
from contextlib import ExitStack
from pathlib import Path

import attrs

from tests.e2e.support import Server, fx, pause, read_text, serving
from tests.ports import free_port

PROBE = "pages/settled.fxl"
"""A page that is written last, so that one sees when all that was saved before is served."""

LAST = "pages/last.fxl"
"""A page that is written when the probe is served, and so comes in a change of its own."""

FINISHED = re.compile(r"~ pages/last\.fxl\n(.*\n)*✓ (updated|started) in [^\n]*\n(→ [^\n]*\n)?$")
"""How the output ends when everything that was saved has been followed. What is served is printed
somewhat later: else the next test would take it for its own."""

LONGEST = 20.0
"""How long a project may take to settle before another `fx dev` is started (seconds)."""


@attrs.define
class SharedDev:
    """A new project that `fx dev` serves. It is started again where a test left it broken."""

    folder: Path
    _running: ExitStack = attrs.field(factory=ExitStack)
    _server: Server | None = None
    _files: dict[Path, bytes] = attrs.field(factory=dict)
    _number: int = 0

    @property
    def project(self) -> Path:
        """The folder of the project."""
        return self.folder / f"{self._number}/shop"

    def start(self) -> Server:
        """Return the server, whose output begins again."""
        if self._server is None:
            self._number += 1
            self.project.parent.mkdir()
            fx("init", "shop", cwd=self.project.parent)
            self._files = self._read()
            port = free_port()
            command = [sys.executable, "-m", "fxtrio", "dev", "--port", str(port)]
            self._server = self._running.enter_context(serving(command, self.project, port))
            give_up = time.monotonic() + LONGEST
            while "✓ started in" not in self._server.output():  # it serves before it says so
                assert time.monotonic() < give_up, self._server.output()
                pause()
        return self._server.from_now_on()

    def restore(self) -> None:
        """Give every file its first content, and wait until that is served."""
        if self._server is None or not self._restored(self._server):
            self.stop()

    def stop(self) -> None:
        """End the server; `start` makes another project for the next one."""
        self._server = None
        self._running.close()

    def _restored(self, server: Server) -> bool:
        for path in self._read().keys() - self._files.keys() - {self.project / LAST}:
            path.unlink()
        for path, content in self._files.items():
            if not path.is_file() or path.read_bytes() != content:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)
        number = str(time.monotonic_ns())
        (self.project / PROBE).write_text(f"export default () => <h1>{number}</h1>;\n", "utf-8")
        give_up = time.monotonic() + LONGEST
        while number not in read_text(f"{server.url}/settled"):
            if time.monotonic() > give_up or server.process.poll() is not None:
                return False
            pause()
        output = server.from_now_on().output
        (self.project / LAST).write_text(f"export default () => {number};\n", "utf-8")
        while FINISHED.search(output()) is None:
            if time.monotonic() > give_up:
                return False
            pause()
        return "<h1>Notes</h1>" in read_text(server.url)

    def _read(self) -> dict[Path, bytes]:
        """Return what is in the files that are edited: those that no program writes."""
        return {
            path: path.read_bytes()
            for path in self.project.rglob("*")
            if path.is_file()
            and path.suffix != ".log"
            and not {".fx", "__pycache__"} & {*path.relative_to(self.project).parts}
        }
