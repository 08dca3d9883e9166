"""Start a contender's server, wait for its first right answer, check all others, end it."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPException
from typing import IO
from urllib.parse import urlsplit

import attrs

from benchmarks import cache, processes
from benchmarks.contenders import Contender
from benchmarks.works import Call
from tests.ports import free_port

START_TIMEOUT = 60.0  # seconds until the first right answer
STOP_TIMEOUT = 15.0  # seconds of patience before a process is killed
BUILD_TIMEOUT = 300.0


class ServerFailed(Exception):
    """A server did not start, or did not answer what it was asked for."""


@attrs.frozen
class Server:
    """A running server. Made by `serving`; valid until its block ends."""

    base: str
    """``http://127.0.0.1:port``."""

    pid: int
    started: float
    """Seconds from the command to the first right answer."""

    proof: Mapping[str, str]
    """Headers for calls that change something."""


def build(contender: Contender) -> float:
    """Compile a contender's app and return how many seconds that took."""
    assert contender.build is not None
    command = contender.build
    start = time.perf_counter()
    run = subprocess.run(
        command.argv,
        cwd=command.folder,
        env={**os.environ, **command.env},
        capture_output=True,
        text=True,
        timeout=BUILD_TIMEOUT,
    )
    if run.returncode:
        said = f"{run.stdout}\n{run.stderr}".strip()[-2000:]
        raise ServerFailed(f"{contender.name}: the build failed.\n{said}")
    return time.perf_counter() - start


@contextmanager
def serving(contender: Contender) -> Iterator[Server]:
    """Keep a contender's server running for as long as the block lasts.

    Raises ServerFailed when the first work has no right answer within `START_TIMEOUT`.
    """
    port = free_port()
    base = f"http://127.0.0.1:{port}"
    command = contender.serve(port)
    log_path = cache.CACHE / f"{contender.name}.log"
    with log_path.open("w+") as log:
        begin = time.perf_counter()
        process = subprocess.Popen(
            command.argv,
            cwd=command.folder,
            env={**os.environ, **command.env},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            text=True,
            start_new_session=True,  # Ctrl-C is for the suite, which then ends the server
        )
        try:
            first = next(iter(contender.calls.values()))
            _wait_for_answer(process, base, first, contender.name, log)
            started = time.perf_counter() - begin
            yield Server(base, process.pid, started, contender.prove(base))
        finally:
            processes.end(process, patience=STOP_TIMEOUT)


def check(server: Server, name: str, call: Call) -> int:
    """Ask once and return the size of the answer in bytes.

    Raises ServerFailed unless it has status 200 and the body that is wanted.
    """
    try:
        return len(ask(server, call))
    except ServerFailed as error:
        raise ServerFailed(f"{name} {error}") from None


def ask(server: Server, call: Call, *, body: str | None = None) -> bytes:
    """Return the body of the answer to ``call``, with another request body if told.

    Raises ServerFailed unless it has status 200 and what is wanted.
    """
    if body is not None:
        call = attrs.evolve(call, body=body)
    headers = {**call.headers, **(server.proof if call.method != "GET" else {})}
    headers.pop("Accept-Encoding", None)  # what is wanted is looked for in the text
    status, answer = _ask(server.base, call, headers)
    missing = _missing(call, status, answer)
    if missing:
        raise ServerFailed(f"{call.method} {call.path}: {missing}")
    return answer


def _wait_for_answer(
    process: subprocess.Popen[str], base: str, call: Call, name: str, log: IO[str]
) -> None:
    deadline = time.perf_counter() + START_TIMEOUT
    missing = "no connection"
    while time.perf_counter() < deadline:
        if process.poll() is not None:
            missing = f"the server ended with {process.returncode}"
            break
        try:
            status, body = _ask(base, call, call.headers)
        except (OSError, HTTPException):
            time.sleep(0.005)
            continue
        missing = _missing(call, status, body)
        if not missing:
            return
        time.sleep(0.05)
    log.seek(0)
    raise ServerFailed(f"{name}: {missing}.\n{log.read()[-2000:].strip()}")


def _ask(base: str, call: Call, headers: Mapping[str, str]) -> tuple[int, bytes]:
    connection = HTTPConnection(urlsplit(base).netloc, timeout=10)
    try:
        body = call.body.encode() or None
        connection.request(call.method, call.path, body=body, headers=dict(headers))
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def _missing(call: Call, status: int, body: bytes) -> str:
    """Return what is wrong with an answer, or an empty string."""
    if status != 200:
        return f"status {status}: {body[:500]!r}"
    for text in call.contains:
        if text.encode() not in body:
            return f"{text!r} is not in the {len(body)} bytes of the body: {body[:500]!r}"
    if len(body) < call.least:
        return f"the body has {len(body)} bytes, not {call.least} or more"
    return ""
