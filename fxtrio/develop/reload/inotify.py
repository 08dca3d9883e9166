"""Changes of files as Linux tells of them: without a thread, and at once. Run by `watcher`.

A file that is written and closed, or moved to its place, is whole, and is reported at once. What
comes or goes otherwise is reported when it has been quiet for a moment: one save of an editor may
take a file away and put another in its place.
"""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, Iterable, Iterator
from pathlib import Path

import attrs
import trio
from inotify_simple import Event, INotify, flags
from watchfiles import Change

from fxtrio.develop.reload.ignored import BUILT, ENVIRONMENT, FOLDERS, INSTALLED

Changes = frozenset[tuple[Change, str]]

_QUIET = 0.005  # seconds
_LONGEST = 0.05  # seconds for which one change waits for others at most
_WHOLE = flags.CLOSE_WRITE | flags.MOVED_TO
_CAME = flags.CREATE | flags.MOVED_TO
_REMOVED = flags.DELETE | flags.MOVED_FROM
_WATCHED = (
    _WHOLE | _CAME | _REMOVED | flags.ATTRIB | flags.DELETE_SELF | flags.MOVE_SELF | flags.ONLYDIR
)
_MARKS = (*INSTALLED, BUILT)
"""Files that matter in folders that do not, relative to the project folder."""


async def watch_changes(root: Path) -> AsyncGenerator[Changes | None, None]:
    """Yield what changes below ``root``, and `None` where all files have to be looked at.

    It yields `None` first, when all folders are watched, and whenever the system has dropped
    changes. Raises `OSError` with the name of a folder that cannot be watched, and
    `FileNotFoundError` when ``root`` does not exist.
    """
    with INotify(nonblocking=True) as inotify:
        folders = _Folders(root, inotify)
        await trio.to_thread.run_sync(folders.watch_all)
        yield None
        while True:
            await trio.lowlevel.wait_readable(inotify.fileno())
            changes = await _read_burst(folders)
            if changes is None:
                await trio.to_thread.run_sync(folders.watch_all)
            if changes is None or changes:
                yield changes


async def _read_burst(folders: _Folders) -> Changes | None:
    """Return the changes until a file is whole, or until it is quiet."""
    changes: set[tuple[Change, str]] = set()
    latest = trio.current_time() + _LONGEST
    while True:
        for event in folders.inotify.read(timeout=0):
            if event.mask & flags.Q_OVERFLOW:
                return None
            changes.update(folders.changes_of(event))
        if not changes or any(change is Change.modified for change, _ in changes):
            return frozenset(changes)
        with trio.move_on_at(min(latest, trio.current_time() + _QUIET)) as scope:
            await trio.lowlevel.wait_readable(folders.inotify.fileno())
        if scope.cancelled_caught:
            return frozenset(changes)


@attrs.define(eq=False)
class _Folders:
    """The folders below ``root`` that are watched, each by the paths that lead to it."""

    root: Path
    inotify: INotify
    _paths: dict[int, set[str]] = attrs.field(factory=dict)
    """Paths by the number of the watch: links lead to one folder by several."""

    _watches: dict[str, int] = attrs.field(factory=dict)
    _marks: frozenset[str] = attrs.field(init=False)
    _shallow: frozenset[str] = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        """Name the files that matter in folders that do not."""
        self._marks = frozenset(str(self.root / mark) for mark in _MARKS)
        above = (parent for mark in _MARKS for parent in Path(mark).parents)
        self._shallow = frozenset(str(self.root / parent) for parent in above) - {str(self.root)}

    def watch_all(self) -> None:
        """Watch all folders that are there, and forget those that were."""
        self._paths.clear()
        self._watches.clear()
        self._watch(str(self.root))
        if str(self.root) not in self._watches:
            raise FileNotFoundError(2, "the project folder was deleted", str(self.root))

    def changes_of(self, event: Event) -> Iterator[tuple[Change, str]]:
        """Yield the changes that one event is; raises `OSError` as `watch_changes` does."""
        if event.mask & flags.IGNORED:
            self._forget_watch(event.wd)
            return
        paths = tuple(self._paths.get(event.wd, ()))
        if event.mask & (flags.DELETE_SELF | flags.MOVE_SELF):
            if str(self.root) in paths:
                raise FileNotFoundError(2, "the project folder was deleted", str(self.root))
            return
        for folder in paths:
            yield from self._changes_in(folder, event)

    def _changes_in(self, folder: str, event: Event) -> Iterator[tuple[Change, str]]:
        path = f"{folder}{os.sep}{event.name}"
        if folder in self._shallow and path not in (self._marks | self._shallow):
            return
        if event.mask & _REMOVED:
            self._forget(path)
            yield Change.deleted, path
        elif event.name == ENVIRONMENT and folder != str(self.root):
            self._forget(folder)
        elif event.mask & _CAME and Path(path).is_dir():  # a link to one, too
            if path in self._shallow:
                self._watch(path)
                yield from ((Change.added, mark) for mark in self._marks if Path(mark).exists())
            elif event.name not in FOLDERS:
                self._watch(path)
                yield Change.added, path
        elif event.mask & _WHOLE:
            yield Change.modified, path
        elif not event.mask & flags.ISDIR:  # created by a link, or its rights changed
            yield Change.added, path

    def _watch(self, top: str) -> None:
        """Watch ``top`` and all below it. What comes in a folder after that is an event."""
        parent = os.path.realpath(Path(top).parent)
        waiting: list[tuple[str, str, tuple[str, ...]]] = [(top, os.path.realpath(top), (parent,))]
        while waiting:
            path, real, crossed = waiting.pop()
            if not self._add(path):
                continue
            entries = _listed(path)
            if path != str(self.root) and any(entry.name == ENVIRONMENT for entry in entries):
                self._forget_path(path)
                continue
            for entry in entries:
                inside = f"{real}{os.sep}{entry.name}"
                if not entry.is_dir():
                    continue
                below = entry.path in self._shallow
                if path in self._shallow and not below:
                    continue
                if entry.name in FOLDERS and not below:
                    continue
                if not entry.is_symlink():
                    waiting.append((entry.path, inside, crossed))
                    continue
                target = os.path.realpath(entry.path)
                if not _leads_back(target, (*crossed, real)):
                    waiting.append((entry.path, target, (*crossed, real)))

    def _add(self, path: str) -> bool:
        """Watch one folder; return `False` for one that was deleted since."""
        try:
            number = self.inotify.add_watch(path, _WATCHED)
        except (FileNotFoundError, NotADirectoryError):
            return False
        except OSError as error:
            raise type(error)(error.errno, error.strerror, path) from None
        self._forget_path(path, but=number)
        self._paths.setdefault(number, set()).add(path)
        self._watches[path] = number
        return True

    def _forget(self, top: str) -> None:
        """Watch ``top`` and what was below it no longer: its names are wrong from now on."""
        if top in self._watches:
            below = f"{top}{os.sep}"
            for path in [one for one in self._watches if one == top or one.startswith(below)]:
                self._forget_path(path)

    def _forget_path(self, path: str, *, but: int | None = None) -> None:
        number = self._watches.get(path)
        if number is None or number == but:
            return
        del self._watches[path]
        self._paths[number].discard(path)
        if not self._paths[number]:
            del self._paths[number]
            try:
                self.inotify.rm_watch(number)
            except OSError:  # the folder was deleted, and its watch with it
                return

    def _forget_watch(self, number: int) -> None:
        for path in self._paths.pop(number, ()):
            if self._watches.get(path) == number:
                del self._watches[path]


def _listed(path: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(path) as entries:
            return list(entries)
    except (FileNotFoundError, NotADirectoryError):  # deleted since
        return []


def _leads_back(target: str, places: Iterable[str]) -> bool:
    """Return whether a link to ``target`` leads to a folder that one of ``places`` lies in."""
    return any(place == target or place.startswith(f"{target}{os.sep}") for place in places)
