"""Starts Node before `fx dev` has read anything of the project: it takes longest to begin.

Imports next to nothing. `launch` takes it over, and gives it its settings.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fxtrio.build_folder import LinkInTheWay, require_no_link
from fxtrio.compile.bundling.early_process import EarlyProcess
from fxtrio.develop.processes.one_file import arguments_for
from fxtrio.ssr.process.sandbox import worker_environment

_MAIN = Path(__file__).parents[2] / "js" / "develop" / "main.js"
_BUILD = Path(".fx/dev")
"""`FOLDERS` of the manifest, whose imports take longer than all else here."""

PUBLIC = "FX_PUBLIC_"
"""What the names of variables begin with that code in browsers may know."""


class EarlyNode(EarlyProcess):
    """Node, as long as nobody has taken it. Created by `starting_early`."""

    def __init__(self, node: Path, root: Path) -> None:
        """Start the executable ``node`` for the project in ``root``. Raises OSError."""
        super().__init__(start_node(node, root), _how(node, root))

    def take(self, node: Path, root: Path) -> subprocess.Popen[bytes] | None:
        """Return the process, once; None when it was started in another way than now."""
        return self.take_as(_how(node, root))


def _how(node: Path, root: Path) -> tuple[object, ...]:
    return str(node), str(root), _environment()


@contextmanager
def starting_early(root: Path) -> Iterator[EarlyNode | None]:
    """Start the Node that is on the PATH, for the block; None when there is none.

    Whether it is new enough is seen by whoever takes it.
    """
    early = None
    found = shutil.which("node")
    if found is not None:
        try:
            require_no_link(root, _BUILD)
            early = EarlyNode(Path(found), root)
        except (LinkInTheWay, OSError):
            pass  # reported when it is needed
    try:
        yield early
    finally:
        if early is not None:
            early.close()


def start_node(node: Path, root: Path) -> subprocess.Popen[bytes]:
    """Start the Node process of `fx dev`, which waits for its settings. Raises OSError."""
    return subprocess.Popen(
        [str(node), *arguments_for(_MAIN)],
        bufsize=0,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=root,
        env={
            **_environment(),
            "NO_COLOR": "1",
            # The bundler's allocator returns memory at once: half a gigabyte for large packages.
            "MIMALLOC_PURGE_DELAY": "0",
            "MIMALLOC_ALLOW_THP": "0",  # `ALLOCATOR` of the module of Node, which is not imported
            # Versions that know it start Vite in half the time.
            "NODE_COMPILE_CACHE": str(root / _BUILD / "compiled"),
        },
        start_new_session=True,  # so that Ctrl-C reaches this command only
    )


def public_variables() -> dict[str, str]:
    """Return the variables of the environment that code in browsers may know."""
    return {name: value for name, value in os.environ.items() if name.startswith(PUBLIC)}


def _environment() -> dict[str, str]:
    """Return the environment without those: they come with the settings."""
    found = worker_environment("development")
    return {name: value for name, value in found.items() if not name.startswith(PUBLIC)}
