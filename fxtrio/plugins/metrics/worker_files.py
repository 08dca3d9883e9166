"""What the processes of one server have counted, in files that each of them can read.

Any process may be asked for the metrics, and the answer has to be that of all. So each writes a
snapshot of its own into a folder that they share, every few seconds and before it answers; none
is written for a request. A process that has ended leaves its file: what it has counted must not
vanish, or the sums would fall. The next to look adds it to those of all that have ended before.

Whether a process lives is told by the lock on its file, which the system undoes however it ends.
"""

from __future__ import annotations

import fcntl
import os
import secrets
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import attrs
import msgspec

from fxtrio.errors import PlacedError
from fxtrio.plugins.metrics.snapshot import Snapshot, add_up, of_the_dead
from fxtrio.process_identity import parent_started
from fxtrio.temporary_folders import remove_abandoned

_PREFIX = "fx-metrics-"
_ENDED = "ended.json"
_TURN = "turn.lock"
_SERVING = "serving.lock"

_read = msgspec.json.Decoder(Snapshot)


class MetricsFolderUnusable(PlacedError):
    """The folder in which processes exchange their metrics belongs to somebody else."""

    remedy = "Remove it, or set TMPDIR to a folder of the server's own"

    def __init__(self, folder: Path) -> None:
        cause = "is not a folder of this user, so metrics cannot be exchanged in it"
        super().__init__(str(folder), cause)


def shared_folder() -> Path:
    """Return the folder of the processes that this one's parent has started."""
    name = f"{_PREFIX}{os.getuid()}-{os.getppid()}-{parent_started()}"
    return Path(tempfile.gettempdir()) / name


@attrs.frozen(eq=False)
class WorkerFiles:
    """The files, as one process uses them. Opened by `open_worker_files`; its methods block."""

    folder: Path
    name: str

    def publish(self, own: Snapshot) -> None:
        """Replace this process's file."""
        self._write(f"{self.name}.json", own)

    def gather(self, own: Snapshot) -> Snapshot:
        """Return the sum of all processes, those that have ended included."""
        with self._locked(_TURN):
            self.publish(own)
            snapshots, ended = [own], self._read(_ENDED)
            for file in sorted(self.folder.glob("*.lock")):
                name = file.stem
                if name == self.name or file.name in (_TURN, _SERVING):
                    continue
                dead = _is_free(file)
                found = self._read(f"{name}.json")
                if dead:
                    ended = add_up([ended, of_the_dead(found)])
                    self._write(_ENDED, ended)
                    (self.folder / f"{name}.json").unlink(missing_ok=True)
                    file.unlink(missing_ok=True)
                else:
                    snapshots.append(found)
        return add_up([*snapshots, ended])

    def claim_serving(self) -> int | None:
        """Return a descriptor while which is open no other process listens; None if one does."""
        descriptor = _open(self.folder / _SERVING)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(descriptor)
            return None
        return descriptor

    @contextmanager
    def _locked(self, name: str) -> Iterator[None]:
        descriptor = _open(self.folder / name)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)

    def _read(self, name: str) -> Snapshot:
        try:
            return _read.decode((self.folder / name).read_bytes())
        except (OSError, msgspec.DecodeError):  # it has written none yet
            return []

    def _write(self, name: str, snapshot: Snapshot) -> None:
        draft = self.folder / f"{name}.{self.name}"
        draft.write_bytes(msgspec.json.encode(snapshot))
        draft.replace(self.folder / name)


@contextmanager
def open_worker_files(folder: Path) -> Iterator[WorkerFiles]:
    """Take part in ``folder`` while the block lasts. Raises MetricsFolderUnusable and OSError.

    Folders of servers that have ended are removed.
    """
    others = folder.parent.glob(f"{_PREFIX}{os.getuid()}-*")
    remove_abandoned(other for other in others if other != folder)
    lives = _enter(folder)
    try:
        name = f"{os.getpid()}-{secrets.token_hex(4)}"
        own = _open(folder / f"{name}.lock")
        try:
            fcntl.flock(own, fcntl.LOCK_EX)
            yield WorkerFiles(folder, name)
        finally:
            os.close(own)
    finally:
        os.close(lives)


def _enter(folder: Path) -> int:
    """Return a descriptor of the folder that tells others that it is used."""
    while True:
        with suppress(FileExistsError):
            folder.mkdir(mode=0o700)
        found = folder.lstat()
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
            raise MetricsFolderUnusable(folder)
        with suppress(FileNotFoundError):  # another server took it for abandoned
            lives = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            fcntl.flock(lives, fcntl.LOCK_SH)
            if folder.exists():
                return lives
            os.close(lives)


def _open(file: Path) -> int:
    return os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)


def _is_free(file: Path) -> bool:
    descriptor = _open(file)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return True
