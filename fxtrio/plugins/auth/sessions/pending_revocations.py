"""Sessions that have ended while their end could not be written, as on a full disk.

They are over in this process at once. One task (`write`) of the plugin writes it as soon
as that works; until then other processes and a restart do not know.
"""

from __future__ import annotations

import logging

import trio

from fxtrio.plugins.auth.errors import AuthStorageUnavailable
from fxtrio.plugins.auth.storage.interface import AuthStorage

CAPACITY = 100_000
"""Pending revocations; further ones raise AuthStorageUnavailable (count)."""

PAUSE = 5.0
"""Time between two attempts to write them (seconds)."""

log = logging.getLogger("fx.auth")


class PendingRevocations:
    """The keys of such sessions."""

    def __init__(self, storage: AuthStorage) -> None:
        self._storage = storage
        self._keys: set[bytes] = set()
        self._wake = trio.Event()

    def __contains__(self, key: object) -> bool:
        """Whether a session has ended, whatever the storage says."""
        return key in self._keys

    def add(self, key: bytes, error: AuthStorageUnavailable) -> None:
        """Remember an end that failed with ``error``; raises that when there are too many."""
        if len(self._keys) >= CAPACITY:
            raise error
        self._keys.add(key)
        self._wake.set()

    async def write(self) -> None:
        """Write pending revocations, as soon as the storage is available, until cancelled."""
        while True:
            await self._wake.wait()
            self._wake = trio.Event()
            while self._keys:
                await trio.sleep(PAUSE)
                await self._write_once()

    async def _write_once(self) -> None:
        for key in tuple(self._keys):
            try:
                await self._storage.end_session(key)
            except AuthStorageUnavailable:
                return
            self._keys.discard(key)
        log.info("the database works again: all ended sessions are stored")
