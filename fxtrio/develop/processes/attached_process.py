"""A process of `launch`, with streams: as much of `trio.Process` as is used here."""

from __future__ import annotations

import os
import subprocess
from typing import IO

import attrs
import trio

from fxtrio.develop.processes.forked_process import ForkedProcess
from fxtrio.processes import wait_for_end


@attrs.frozen(eq=False)
class AttachedProcess:
    """Created by `attach`, whose caller ends the process, and then calls `close`."""

    process: subprocess.Popen[bytes] | ForkedProcess
    stdin: trio.abc.SendStream
    stderr: trio.abc.ReceiveStream
    stdout: trio.abc.ReceiveStream | None

    @property
    def returncode(self) -> int | None:
        """How it ended, as `subprocess.Popen` says it; None while it runs."""
        return self.process.poll()

    async def wait(self) -> None:
        """Wait until it has ended."""
        await wait_for_end(self.process)

    async def close(self) -> None:
        """Close all streams."""
        for stream in (self.stdin, self.stdout, self.stderr):
            if stream is not None:
                await trio.aclose_forcefully(stream)


def attach(process: subprocess.Popen[bytes] | ForkedProcess) -> AttachedProcess:
    """Return ``process``, whose pipes are the streams' from then on."""
    assert process.stdin is not None and process.stderr is not None  # they are PIPE
    stdout = None if process.stdout is None else _stream(process.stdout)
    return AttachedProcess(process, _stream(process.stdin), _stream(process.stderr), stdout)


def _stream(pipe: IO[bytes]) -> trio.lowlevel.FdStream:
    with pipe:
        return trio.lowlevel.FdStream(os.dup(pipe.fileno()))
