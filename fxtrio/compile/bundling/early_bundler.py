"""Starts the bundler while the project is still being read: Vite takes as long to load as that.

Imports next to nothing. `bundle` takes the process over, and gives it its plan.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fxtrio.compile.bundling.early_process import EarlyProcess
from fxtrio.compile.bundling.installation import JS, LISTING, toolchain_folder
from fxtrio.manifest import Mode
from fxtrio.node import ALLOCATOR, NodeMissing, find_node

_BUILD = JS / "vite" / "build.js"


class EarlyBundler(EarlyProcess):
    """The bundler, as long as nobody has taken it. Created by `bundling_early`."""

    def __init__(self, root: Path, toolchain: Path) -> None:
        """Start it for the project in ``root``. Raises NodeMissing, and OSError without tools."""
        started_as = _how(root, toolchain)
        super().__init__(start_bundler(root, toolchain, "production"), started_as)

    def take(self, root: Path, toolchain: Path) -> subprocess.Popen[bytes] | None:
        """Return the process, once; None when it was started in another way than now."""
        return self.take_as(_how(root, toolchain))


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
