"""What the command `fx serve` is started with: its options, signals and descriptors."""

from __future__ import annotations

import signal
import subprocess
import sys
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest
import trio

from .support import ROOT, Running, serve_project

ONE_CORE = "os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])"
NO_HANGUP = "signal.signal(signal.SIGHUP, signal.SIG_IGN)"  # what nohup does


def serve(
    folder: Path, *options: str, workers: int = 1, first: str = "", ready: bool = True
) -> AbstractAsyncContextManager[Running]:
    """Run `fx serve` on an application; ``first`` is Python that its process runs before."""
    script = f"import os, signal, sys; {first}; os.execv(sys.argv[1], sys.argv[1:])"
    app = ("--app", "tests.supervise.apps:app", *options)
    return serve_project(
        folder,
        *app,
        workers=workers,
        ready=ready,
        environment={"PYTHONPATH": str(ROOT)},
        wrap=(sys.executable, "-c", script) if first else (),
    )


async def test_auto_is_watched_over_with_one_core_too(tmp_path: Path) -> None:
    async with serve(tmp_path, "--workers", "auto", first=ONE_CORE) as running:
        (before,) = running.workers()
        running.kill(signal.SIGHUP)
        await running.wait_until(lambda: before not in running.workers())
        assert (await running.get()).body.decode() == str(*running.workers())
        running.kill()
        assert await running.exit_code() == 0


@pytest.mark.parametrize("workers", [1, 2])
async def test_a_hangup_that_is_ignored_at_the_start_stays_so(tmp_path: Path, workers: int) -> None:
    async with serve(tmp_path, workers=workers, first=NO_HANGUP) as running:
        if workers > 1:  # where it would replace them
            await running.wait_for("WARNING.*SIGHUP is ignored, as under nohup")
        running.kill(signal.SIGHUP, group=True)
        assert (await running.get()).status == 200
        running.kill()
        assert await running.exit_code() == 0
    assert running.log.count("SIGHUP") == workers - 1


@pytest.mark.parametrize("closed", [[0], [0, 1], [0, 1, 2]])
@pytest.mark.parametrize("workers", [1, 2])
async def test_closed_standard_descriptors_harm_nothing(
    tmp_path: Path, workers: int, closed: list[int]
) -> None:
    path = tmp_path / "socket"
    options = ("--access-log", "console", "--bind", f"unix:{path}")
    close = f"[os.close(descriptor) for descriptor in {closed}]"
    async with serve(tmp_path, *options, workers=workers, first=close, ready=False) as running:
        for _ in range(2):
            async with await running.connect_unix(path) as stream:
                await stream.send_all(b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
                with trio.fail_after(20):
                    answer = b"".join([data async for data in stream])
            assert answer.startswith(b"HTTP/1.1 200")
        running.kill()
        assert await running.exit_code() == 0


@pytest.mark.parametrize(("options", "mode"), [((), 0o666), (("--umask", "007"), 0o660)])
async def test_a_unix_socket_is_for_everybody_or_less(
    tmp_path: Path, options: tuple[str, ...], mode: int
) -> None:
    path = tmp_path / "socket"
    bind = ("--bind", f"unix:{path}", "--bind", "127.0.0.1:0")
    async with serve(tmp_path, *bind, *options):
        assert path.stat().st_mode & 0o777 == mode


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--umask", "9"], "'9' is no octal number such as 007"),
        (["--umask", "1777"], "'1777' is no octal number"),
        (["--max-requests-jitter", "3"], "has no meaning without --max-requests"),
        (["--root-path-stripped"], "has no meaning without --root-path"),
        (["--workers", "0"], "is not above 0 and not 'auto'"),
    ],
)
def test_options_without_a_meaning_are_usage_errors(
    tmp_path: Path, options: list[str], words: str
) -> None:
    command = [sys.executable, "-m", "fxtrio", "serve", "--app", "a:b", *options]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert result.returncode == 2
    assert words in result.stderr
