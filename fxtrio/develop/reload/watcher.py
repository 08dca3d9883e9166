"""Files that change → what has to be done about it. Run by the loop."""

from __future__ import annotations

import os
import platform
import re
import sys
from collections.abc import AsyncGenerator, Callable, Iterable
from contextlib import aclosing
from pathlib import Path

import attrs
import click
import trio
from watchfiles import Change, awatch

from fxtrio.develop.reload.file_snapshot import SeenFiles
from fxtrio.develop.reload.ignored import Ignored
from fxtrio.errors import leaves

_QUIET_MS = 5  # the changes of one save come together; a half-written file is read again
_POLL = 0.5  # seconds
_CANCEL_MS = 100  # how often the watching thread looks whether it may end


@attrs.frozen
class Changes:
    """Files that have changed since the last look, relative to the project folder."""

    files: tuple[str, ...]

    @classmethod
    def of(cls, root: Path, changed: Iterable[tuple[Change, str]]) -> Changes:
        """Return what the watcher reports, in the order of the names."""
        files = {Path(path).relative_to(root).as_posix() for _, path in changed}
        return cls(tuple(sorted(files)))

    def joined(self, other: Changes | None) -> Changes:
        """Return both together."""
        if other is None:
            return self
        return Changes(tuple(sorted({*self.files, *other.files})))


@attrs.define
class PendingChanges:
    """Changes that nobody has acted on. They are joined, so it never grows."""

    _changes: Changes | None = None
    _arrived: trio.Event = attrs.field(factory=trio.Event)

    def add(self, changes: Changes) -> None:
        """Put changes in, without waiting."""
        self._changes = changes.joined(self._changes)
        self._arrived.set()

    async def take(self) -> Changes:
        """Wait for changes and return all there are."""
        await self._arrived.wait()
        changes, self._changes, self._arrived = self._changes, None, trio.Event()
        assert changes is not None  # set together with the event
        return changes


async def run_watch(
    root: Path, pending: PendingChanges, *, warn: Callable[[str], None] = click.echo
) -> None:
    """Report changes in the project folder ``root`` until cancelled.

    ``warn`` is called when the system cannot watch it. Then all files are looked at twice a second.
    """
    ignored = await trio.to_thread.run_sync(Ignored, root)
    seen = await trio.to_thread.run_sync(SeenFiles, root)

    def add(changed: Iterable[tuple[Change, str]]) -> None:
        passing = [one for one in changed if ignored.lets_pass(*one)]
        if passing:
            pending.add(Changes.of(root, passing))

    try:
        async with aclosing(_tell_changes(root)) as changes:
            async for burst in changes:
                if burst is None:
                    add(await trio.to_thread.run_sync(seen.looked_at_again))
                    continue
                passing = _lasting({one for one in burst if ignored.lets_pass(*one)})
                if all(change is Change.modified for change, _ in passing):
                    add(seen.changes_of(passing))
                else:  # folders are walked
                    add(await trio.to_thread.run_sync(seen.changes_of, passing))
    except* (OSError, RuntimeError) as group:  # too few watches, no rights
        warn(_reason(leaves(group)[0], root))
    while True:
        add(await trio.to_thread.run_sync(seen.looked_at_again))
        await trio.sleep(_POLL)


def _tell_changes(root: Path) -> AsyncGenerator[Iterable[tuple[Change, str]] | None, None]:
    """Yield changes by the quickest way that the system has, and `None` to look at all files."""
    if has_inotify():
        from fxtrio.develop.reload.inotify import watch_changes

        return watch_changes(root)
    return _from_watchfiles(root)


async def _from_watchfiles(root: Path) -> AsyncGenerator[Iterable[tuple[Change, str]] | None, None]:
    first = True
    async for changed in awatch(
        root,
        watch_filter=None,
        debounce=200,
        step=_QUIET_MS,
        rust_timeout=_CANCEL_MS,
        yield_on_timeout=True,
    ):
        if first:  # what was saved after the files were listed, and before they were watched
            yield None
        if changed:
            yield changed
        first = False


def has_inotify() -> bool:
    """Return whether the system tells of changes; below WSL it tells of those of Linux alone."""
    wished = os.environ.get("WATCHFILES_FORCE_POLLING", "").lower()
    return (
        sys.platform == "linux"
        and wished in {"", "false", "disable", "disabled"}
        and "microsoft" not in platform.release().lower()
    )


def _reason(error: BaseException, root: Path) -> str:
    """Return why nothing can be watched, and what to do about it."""
    text = str(error)
    if isinstance(error, FileNotFoundError):
        cause, remedy = f"{root}: the folder was deleted", "Start again where it is"
    elif isinstance(error, PermissionError):
        named = re.search(r'about \["([^"]+)"\]', text)
        place = Path(named[1] if named else error.filename or root)
        cause = f"{place}: it may not be read"
        remedy = "Move it out of the project, or make it readable"
    else:
        if isinstance(error, OSError) and error.filename is not None:
            text = f"{error.filename}: {error.strerror}"
        cause = f"The system cannot watch more folders: {text.partition(' about ')[0].rstrip('.')}"
        remedy = "Raise fs.inotify.max_user_watches and fs.inotify.max_user_instances (sysctl)"
    return f"{cause}. Files are looked at twice a second instead. {remedy} for quicker updates."


def _lasting(changed: set[tuple[Change, str]]) -> list[tuple[Change, str]]:
    """Return the changes without files that came and went in the meantime."""
    came = {path for change, path in changed if change is Change.added}
    deleted = {path for change, path in changed if change is Change.deleted}
    passing = {path for path in came & deleted if not Path(path).exists()}
    return [(change, path) for change, path in changed if path not in passing]
