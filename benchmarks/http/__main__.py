"""Measure the HTTP server beside stock Hypercorn and uvicorn.

    python -m benchmarks.http [--rounds 5] [--seconds 4] [--peers PYTHON] [--only plain]

Prints rates, CPU time of the server's process, latencies, and ratios as medians of
pairs: each round runs every server, so that a noisy moment meets them all. Needs wrk.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from datetime import datetime
from pathlib import Path
from statistics import median

import attrs
from rich.console import Console
from rich.table import Table

from benchmarks.http.servers import ROOT, peers_python, servers, serving
from benchmarks.load import run_wrk
from benchmarks.processes import cpu_seconds
from benchmarks.works import Call

_RESULTS = Path(__file__).parents[1] / "results"


@attrs.frozen
class Work:
    """One comparison: what is asked of which servers; ``base`` is what ratios are against."""

    app: str
    connections: int
    contenders: tuple[str, ...]
    base: str
    websocket: bool = False


WORKS = {
    "plain": Work("plain", 32, ("ours", "uvicorn", "hypercorn"), "uvicorn"),
    "plain, 256": Work("plain", 256, ("ours", "uvicorn"), "uvicorn"),
    "starlette": Work("starlette", 32, ("ours", "uvicorn"), "uvicorn"),
    "access log": Work("plain", 32, ("ours", "ours, access log"), "ours"),
    "echo": Work("plain", 32, ("ours", "uvicorn", "uvicorn, sansio"), "uvicorn", websocket=True),
}


@attrs.frozen
class Sample:
    """One server under one load."""

    rate: float
    cpu_us: float
    p50: float | None
    p99: float | None


def measure(work: Work, name: str, port: int, pid: int, seconds: float) -> Sample:
    """Load a server for ``seconds``."""
    before = sum(cpu_seconds(pid).values())
    if work.websocket:
        command = [sys.executable, "-m", "benchmarks.http.echo"]
        command += [str(port), str(work.connections), str(seconds)]
        run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
        count, p50, p99 = int(run.stdout), None, None
        rate = count / seconds
    else:
        load = run_wrk(
            f"http://127.0.0.1:{port}",
            Call(path="/", contains=("Hello, world!",)),
            headers={},
            connections=work.connections,
            seconds=seconds,
        )
        if load.errors:
            raise RuntimeError(f"{name}: {load.errors}")
        count, rate, p50, p99 = load.requests, load.rate, load.p50, load.p99
    used = sum(cpu_seconds(pid).values()) - before
    return Sample(rate, used / count * 1e6, p50, p99)


def compare(work: Work, peers: str, rounds: int, seconds: float) -> dict[str, list[Sample]]:
    """Return the samples of every contender, one per round."""
    every = servers(peers)
    samples: dict[str, list[Sample]] = {name: [] for name in work.contenders}
    for _ in range(rounds):
        for name in work.contenders:
            with serving(every[name], work.app) as (port, pid):
                measure(work, name, port, pid, 1)  # warm
                samples[name].append(measure(work, name, port, pid, seconds))
    return samples


def show(title: str, work: Work, samples: dict[str, list[Sample]], console: Console) -> None:
    """Print medians, and ratios as medians of pairs."""
    table = Table(title=f"{title}: {work.connections} connections")
    for column in ("server", "a second", "CPU us", "p50 ms", "p99 ms", "rate x", "CPU x"):
        table.add_column(column, justify="left" if column == "server" else "right")
    for name, taken in samples.items():
        pairs = list(zip(taken, samples[work.base], strict=True))
        latencies = [_median([s.p50 for s in taken]), _median([s.p99 for s in taken])]
        table.add_row(
            name,
            f"{median(s.rate for s in taken):,.0f}",
            f"{median(s.cpu_us for s in taken):.1f}",
            *latencies,
            f"{median(a.rate / b.rate for a, b in pairs):.2f}",
            f"{median(a.cpu_us / b.cpu_us for a, b in pairs):.2f}",
        )
    console.print(table)


def _median(values: list[float | None]) -> str:
    known = [value for value in values if value is not None]
    return f"{median(known):.2f}" if known else "-"


def main() -> None:
    """Run what was asked for, print it, and write it down."""
    parser = argparse.ArgumentParser(description="Measure the HTTP server.")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=4)
    parser.add_argument("--peers", help="an interpreter with uvicorn, uvloop and httptools")
    parser.add_argument("--only", action="append", choices=tuple(WORKS))
    options = parser.parse_args()
    console = Console()
    peers = options.peers or peers_python()
    written = {}
    for title, work in WORKS.items():
        if options.only is None or title in options.only:
            samples = compare(work, peers, options.rounds, options.seconds)
            show(title, work, samples, console)
            written[title] = {
                name: [attrs.asdict(s) for s in taken] for name, taken in samples.items()
            }
    _RESULTS.mkdir(exist_ok=True)
    path = _RESULTS / f"http-{datetime.now().astimezone():%Y-%m-%d-%H%M}.json"
    path.write_text(json.dumps(written, indent=1))
    console.print(f"written to {path}")


if __name__ == "__main__":
    main()
