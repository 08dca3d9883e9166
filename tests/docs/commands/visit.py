"""Starts a server as its command line says, visits it once, and ends it as Ctrl+C does.

``python visit.py PORT COMMAND…``, in the place of COMMAND, which gets the port: tests run beside
each other. It imports nothing that is slow, since it runs once for each server of the
documentation. The exit code is 0 if the server has answered, has ended with 0, and has logged no
traceback; what it has printed is printed.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from urllib.request import urlopen

PATIENCE = 60.0
"""How long a server may take to answer, and then to end (seconds)."""

WORKING = b" at a time, of "
"""What `fx jobs work`, which has no port, prints when it has begun."""


def with_port(words: list[str], port: str) -> list[str]:
    """Return a command line with the port in the way of its program."""
    if "http.server" in words:
        return [*words, port]
    if words[0] == "nox":
        return [*words, "--", "--port", port]
    return [*words, "--port", port]


def answers(port: str) -> bool:
    """Return whether there is a page at the root, with any of the statuses of success."""
    try:
        with urlopen(f"http://127.0.0.1:{port}/", timeout=PATIENCE) as response:
            return bool(response.read())
    except ConnectionError:
        return False
    except OSError as error:  # urllib's own error has the reason
        if isinstance(getattr(error, "reason", None), ConnectionError):
            return False
        raise


def main(port: str, *words: str) -> str | int:
    """Return what is wrong, or 0."""
    works = words[:3] == ("fx", "jobs", "work")
    command = list(words) if works else with_port(list(words), port)
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)
        try:
            return _watch(process, log.fileno(), "" if works else port)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            log.seek(0)
            sys.stdout.write(log.read().decode("utf-8", "replace"))


def _watch(process: subprocess.Popen[bytes], log: int, port: str) -> str | int:
    deadline = time.monotonic() + PATIENCE
    while not (answers(port) if port else WORKING in os.pread(log, 10_000, 0)):
        if process.poll() is not None:
            return f"it has ended with {process.returncode}"
        if time.monotonic() > deadline:
            return "it does not answer"
        time.sleep(0.05)  # there is no event to wait for from outside
    os.killpg(process.pid, signal.SIGINT)
    code = process.wait(PATIENCE)
    if code != 0:
        return f"it has ended with {code} after Ctrl+C"
    return "it has logged a traceback" if b"Traceback" in os.pread(log, 1 << 20, 0) else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
