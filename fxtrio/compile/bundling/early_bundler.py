"""Starts the bundler while the project is still being read: Vite takes as long to load as that.

Imports next to nothing. `bundle` takes the process over, and gives it its plan.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fxtrio.compile.bundling.installation import JS, LISTING, toolchain_folder
from fxtrio.manifest import Mode
from fxtrio.node import ALLOCATOR, NodeMissing, find_node

_BUILD = JS / "vite" / "build.js"


class EarlyBundler:
    """The bundler, as long as nobody has taken it. Made by `bundling_early`."""

    def __init__(self, root: Path, toolchain: Path) -> None:
        """Start it for the project in ``root``. Raises NodeMissing, and OSError without tools."""
        self._started_as = self._how(root, toolchain)
        self._process: subprocess.Popen[bytes] | None = start_bundler(root, toolchain, "production")

    def take(self, root: Path, toolchain: Path) -> subprocess.Popen[bytes] | None:
        """Return the process, once; None when it was started in another way than now."""
        if self._process is None or self._started_as != self._how(root, toolchain):
            return None
        process, self._process = self._process, None
        return process

    def close(self) -> None:
        """End it, unless somebody has taken it."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            with process:  # closes its pipes, and waits
                pass

    @staticmethod
    def _how(root: Path, toolchain: Path) -> tuple[object, ...]:
        """Return what a process depends on; tools may have been installed since it started."""
        installed = (toolchain / LISTING).stat().st_mtime_ns
        return find_node().node, root, toolchain, installed, dict(os.environ)


@contextmanager
def bundling_early(root: Path) -> Iterator[EarlyBundler | None]:
    """Start the bundler of the project in ``root``, for the block; None when it cannot be."""
    try:
        early = EarlyBundler(root.resolve(), toolchain_folder())
    except (NodeMissing, OSError):  # reported when it is needed
        early = None
    try:
        yield early
    finally:
        if early is not None:
            early.close()


def start_bundler(root: Path, toolchain: Path, mode: Mode) -> subprocess.Popen[bytes]:
    """Start a bundler, which loads its tools and waits for its plan.

    ``mode`` is that of the plan. Raises NodeMissing and OSError.
    """
    return subprocess.Popen(
        [str(find_node().node), str(_BUILD), str(toolchain)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=root,
        env={**os.environ, "NO_COLOR": "1", "NODE_ENV": mode, **ALLOCATOR},
    )
