"""Load from `wrk`: one thread that repeats one request over some connections."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import attrs

from benchmarks.works import Call

SCRIPT = Path(__file__).parent / "wrk" / "load.lua"


class WrkMissing(Exception):
    """The load generator is not on the PATH."""

    def __str__(self) -> str:
        return "wrk: not found on the PATH. Install it (`apt-get install wrk`) and try again."


class WrkFailed(Exception):
    """The load generator ended without figures."""


@attrs.frozen
class Load:
    """What one run of wrk saw."""

    rate: float
    """Answers a second."""

    requests: int
    p50: float
    """Milliseconds."""

    p99: float
    """Milliseconds."""

    errors: dict[str, int]
    """Kinds of failed requests with their numbers; ``status`` are answers of 400 and above."""


def find_wrk() -> str:
    """Return the path of wrk. Raises WrkMissing."""
    found = shutil.which("wrk")
    if found is None:
        raise WrkMissing
    return found


def run_wrk(
    base: str,
    call: Call,
    *,
    headers: Mapping[str, str],
    connections: int,
    seconds: float,
    pause: float = 0.0,
) -> Load:
    """Send ``call`` for ``seconds`` over ``connections`` and return what was measured.

    wrk takes whole seconds: ``seconds`` is rounded up. With ``pause`` each connection waits for a
    random time after a response, that long on average (milliseconds). Raises WrkFailed.
    """
    whole = max(1, -int(-seconds // 1))
    command = [find_wrk(), "-t1", f"-c{connections}", f"-d{whole}s", "--timeout", "5s"]
    for name, value in {**call.headers, **headers}.items():
        command += ["-H", f"{name}: {value}"]
    command += ["-s", str(SCRIPT), base + call.path, "--", call.method, call.body]
    if pause:
        command.append(f"{pause:.3f}")
    try:
        run = subprocess.run(command, capture_output=True, text=True, timeout=whole + 20)
    except subprocess.TimeoutExpired:
        raise WrkFailed(f"wrk: did not end within {whole + 20} s") from None
    last = run.stdout.strip().rpartition("\n")[2]
    if run.returncode or not last.startswith("{"):
        raise WrkFailed(f"wrk: {run.stderr.strip() or last or run.returncode}")
    return _read(json.loads(last))


def _read(figures: dict[str, int]) -> Load:
    kinds = ("connect", "read", "write", "timeout", "status")
    return Load(
        rate=figures["requests"] / (figures["microseconds"] / 1e6),
        requests=figures["requests"],
        p50=figures["p50"] / 1000,
        p99=figures["p99"] / 1000,
        errors={kind: figures[kind] for kind in kinds if figures[kind]},
    )
