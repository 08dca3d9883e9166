"""Temporary folders that do not outlive their processes for long, however these end.

A process that is killed removes nothing. So each folder is locked while its process lives, which
the system undoes in any case, and whoever makes the next one removes those without a lock.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from glob import escape
from pathlib import Path

if sys.platform == "win32":

    @contextmanager
    def open_temporary_folder(prefix: str, parent: Path | None = None) -> Iterator[Path]:
        """Make a folder for the block, which nobody else may look into."""
        with tempfile.TemporaryDirectory(prefix=prefix, dir=parent) as name:
            yield Path(name)

else:
    import fcntl

    @contextmanager
    def open_temporary_folder(prefix: str, parent: Path | None = None) -> Iterator[Path]:
        """Make a folder for the block, which nobody else may look into.

        It is below ``parent``, or where the system keeps temporary files. Those with the same
        ``prefix`` whose processes have ended are removed: give it to nothing else. A process
        that is forked in the block leaves the folder to the one that has made it.
        """
        maker = os.getpid()
        parent = parent or Path(tempfile.gettempdir())
        remove_abandoned(parent.glob(f"{escape(prefix)}*"))
        folder, lock = _make(prefix, parent)
        try:
            yield folder
        finally:
            if os.getpid() == maker:
                shutil.rmtree(folder, ignore_errors=True)
            os.close(lock)

    def _make(prefix: str, parent: Path) -> tuple[Path, int]:
        """Return a new folder, and the descriptor of it that holds its lock."""
        while True:
            folder = Path(tempfile.mkdtemp(prefix=prefix, dir=parent))
            with suppress(FileNotFoundError):  # another process took it for abandoned
                lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
                fcntl.flock(lock, fcntl.LOCK_EX)
                if folder.exists():
                    return folder, lock
                os.close(lock)

    def remove_abandoned(folders: Iterable[Path]) -> None:
        """Remove those of ``folders`` that no process has locked."""
        for folder in folders:
            with suppress(OSError):  # no folder, somebody else's, gone, or locked
                lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    shutil.rmtree(folder, ignore_errors=True)
                finally:
                    os.close(lock)
