"""Files that change → what has to be done about it. Run by the loop."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import attrs
import trio
from watchfiles import Change, awatch

from fxtrio.cli.develop.ignored import Ignored

_QUIET_MS = 50  # an editor's write, rename and chmod come within a few milliseconds
_CANCEL_MS = 100  # how often the watching thread looks whether it may end


@attrs.frozen
class Changes:
    """Files that have changed since the last look, relative to the project folder."""

    files: tuple[str, ...]

    build: bool
    """Whether the app must be built again, and not only started again."""

    @classmethod
    def of(cls, root: Path, changed: Iterable[tuple[Change, str]]) -> Changes:
        """Sort what the watcher reports.

        The text of a Python module plays no part in a build; that it exists may (endpoints).
        """
        files = {Path(path).relative_to(root).as_posix(): change for change, path in changed}
        build = any(
            change is not Change.modified or not file.endswith(".py")
            for file, change in files.items()
        )
        return cls(tuple(sorted(files)), build)

    def joined(self, other: Changes | None) -> Changes:
        """Return both together."""
        if other is None:
            return self
        files = tuple(sorted({*self.files, *other.files}))
        return Changes(files, self.build or other.build)


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


async def run_watch(root: Path, pending: PendingChanges) -> None:
    """Report changes in the project folder ``root`` until cancelled."""
    ignored = await trio.to_thread.run_sync(Ignored, root)
    async for changed in awatch(
        root,
        watch_filter=ignored.lets_pass,
        debounce=1000,
        step=_QUIET_MS,
        rust_timeout=_CANCEL_MS,
    ):
        lasting = _lasting(changed)
        if lasting:
            pending.add(Changes.of(root, lasting))


def _lasting(changed: set[tuple[Change, str]]) -> list[tuple[Change, str]]:
    """Return the changes without files that came and went in the meantime."""
    came = {path for change, path in changed if change is Change.added}
    gone = {path for change, path in changed if change is Change.deleted}
    passing = {path for path in came & gone if not Path(path).exists()}
    return [(change, path) for change, path in changed if path not in passing]
