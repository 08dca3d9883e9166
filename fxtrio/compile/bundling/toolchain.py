"""The toolchain: Vite and React, as the lock file of this package pins them.

Installed once for all projects into a folder of the user's cache whose name is
a digest of the lock, so an upgrade of fxtrio never changes one that is in use.
The folder holds ``node_modules`` and, written last, the list of its files.
Tools that not every project needs have a folder each, and come with the first use.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import trio

from fxtrio.compile.bundling.installation import LISTING, LOCK, Installation, is_whole, toolchain
from fxtrio.compile.publish.file_lock import open_file_lock
from fxtrio.errors import PlacedError
from fxtrio.node import Node, find_node

_TAIL = 2000  # Characters of npm's output that an error shows.
_REGISTRY = re.compile(r"request to (https?://[^/\s]+)")
# What cannot be reached is tried three times, within some seconds: npm's own rule takes a minute.
_RETRIES = "--fetch-retry-mintimeout=500 --fetch-retry-maxtimeout=2000"

_CAUSES = {
    ("ENOTFOUND", "EAI_AGAIN", "ECONNREFUSED", "ETIMEDOUT", "ECONNRESET", "ENETUNREACH"): (
        "the package registry{registry} cannot be reached, and these packages, or what they need, "
        "are not in npm's cache: {packages}",
        "Check the network and npm's proxy settings, then run the command again; for a machine "
        "without a network, copy this folder from one of the same kind",
    ),
    ("ENOSPC",): ("the disk is full", "Free about 60 MB, then run the command again"),
    ("EACCES", "EPERM", "EROFS"): (
        "npm may not write here",
        "Set XDG_CACHE_HOME to a folder that you can write to",
    ),
    ("EINTEGRITY",): (
        "a package differs from what fxtrio pins",
        "Run 'npm cache clean --force', then run the command again",
    ),
}


class ToolchainFailed(PlacedError):
    """The bundler and React could not be installed into the cache folder."""

    def __init__(
        self, folder: Path, cause: str, remedy: str, output: str = "", *, in_message: bool = True
    ) -> None:
        """``in_message`` says whether npm's ``output`` is part of the message."""
        super().__init__(str(folder), cause, remedy, output=output if in_message else "")
        self.output = output


async def ensure_toolchain(report: Callable[[str], None]) -> Path:
    """Return the folder of the toolchain; see `ensure_installed`."""
    return await ensure_installed(toolchain(), report)


async def ensure_installed(wanted: Installation, report: Callable[[str], None]) -> Path:
    """Return the folder of ``wanted``, installing it first when it is missing or damaged.

    ``report`` gets one line for each thing that takes time. Safe to call from
    several processes at once: one installs, the others wait for it. Raises
    NodeMissing and ToolchainFailed.
    """
    folder = wanted.folder
    if await trio.to_thread.run_sync(is_whole, folder):
        return folder
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        lock = folder.with_suffix(".lock")
        waiting = f"Another process installs {wanted.name}: waiting for it."
        async with open_file_lock(lock, waiting=lambda: report(waiting)):
            if not await trio.to_thread.run_sync(is_whole, folder):
                await _install(wanted, report)
    except OSError as error:
        remedy = "Set XDG_CACHE_HOME to a folder that you can write to"
        raise ToolchainFailed(folder, str(error), remedy) from error
    return folder


async def _install(wanted: Installation, report: Callable[[str], None]) -> None:
    """Install the packages in their folder. The lock is held."""
    started = time.monotonic()
    folder = wanted.folder
    node = find_node()
    part = folder.with_name(f"{folder.name}.part-{os.getpid()}")
    again = await trio.to_thread.run_sync(_prepare, wanted, part)
    when = "again, since files of it are missing" if again else "once for all projects"
    report(f"Installing {wanted.name} into {folder}, {when}.")
    try:
        await _run_npm(node, part, folder)
        await trio.to_thread.run_sync(_publish, folder, part)
    finally:
        with trio.CancelScope(shield=True):  # deletes folders: takes some milliseconds
            await trio.to_thread.run_sync(_delete_parts, folder)
    report(f"Installed in {time.monotonic() - started:.1f} s.")


def _prepare(wanted: Installation, part: Path) -> bool:
    """Make the folder to install into; return whether a damaged installation is there."""
    _delete_parts(wanted.folder)  # of a process that was killed
    part.mkdir()
    (part / "package.json").write_bytes(wanted.package)
    (part / LOCK).write_bytes(wanted.lock)
    return wanted.folder.exists()


def _publish(folder: Path, part: Path) -> None:
    """Put what was installed in place, in one step."""
    (part / LISTING).write_text(json.dumps(_list_files(part)), "utf-8")
    if folder.exists():
        folder.rename(folder.with_name(f"{folder.name}.part-replaced"))
    part.rename(folder)


def _delete_parts(folder: Path) -> None:
    for part in folder.parent.glob(f"{folder.name}.part-*"):
        shutil.rmtree(part)


async def _run_npm(node: Node, part: Path, folder: Path) -> None:
    """Install what the lock names into ``part``. Raises ToolchainFailed."""
    if node.npm is None:
        remedy = 'Install npm, or run: pip install "fxtrio[node]"'
        raise ToolchainFailed(folder, f"{node.node} comes without npm", remedy)
    options = "--omit=dev --include=optional --ignore-scripts --prefer-offline --no-audit"
    quiet = f"{_RETRIES} --no-fund --no-progress --no-update-notifier --loglevel=error"
    done = await trio.run_process(
        [*node.npm, "ci", *options.split(), *quiet.split()],
        cwd=part,
        env={**os.environ, "PATH": f"{node.node.parent}{os.pathsep}{os.environ.get('PATH', '')}"},
        check=False,
        capture_stdout=True,
        capture_stderr=True,
    )
    if done.returncode == 0:
        return
    output = (done.stdout + done.stderr).decode("utf-8", "replace").strip()
    for codes, (cause, remedy) in _CAUSES.items():
        if any(code in output for code in codes):
            registry = f" {found[1]}" if (found := _REGISTRY.search(output)) else ""
            cause = cause.format(registry=registry, packages=_packages(part))
            raise ToolchainFailed(folder, cause, remedy, output[-_TAIL:], in_message=False)
    cause = f"npm ended with code {done.returncode}"
    raise ToolchainFailed(folder, cause, "See its output below", output[-_TAIL:])


def _packages(part: Path) -> str:
    """Return the requested packages for messages: names and versions."""
    wanted: dict[str, str] = json.loads((part / "package.json").read_bytes())["dependencies"]
    return ", ".join(f"{name} {version}" for name, version in wanted.items())


def _list_files(folder: Path) -> dict[str, int]:
    """Return the files of an installation and their sizes (bytes), relative to it."""
    found: dict[str, int] = {}
    for parent, _, names in os.walk(folder / "node_modules"):
        for name in names:
            path = Path(parent, name)
            if not path.is_symlink():
                found[path.relative_to(folder).as_posix()] = path.stat().st_size
    return found
