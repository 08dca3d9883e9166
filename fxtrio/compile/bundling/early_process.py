"""A process that is started before anybody knows whether it is needed. Imports next to nothing."""

from __future__ import annotations

import subprocess


class EarlyProcess:
    """A process, as long as nobody has taken it."""

    def __init__(self, process: subprocess.Popen[bytes], started_as: tuple[object, ...]) -> None:
        """``started_as`` is all that it depends on."""
        self._process: subprocess.Popen[bytes] | None = process
        self._started_as = started_as

    def take_as(self, needed: tuple[object, ...]) -> subprocess.Popen[bytes] | None:
        """Return the process, once.

        Ends it, and returns None, when it was started in another way than is needed.
        """
        if self._started_as != needed:
            self.close()
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
