"""Measurements that are not requests under load: jobs and WebSockets.

Each takes a running server and the call that begins the work, and returns
``{figure: value}``. Figures are medians over a few repetitions.
"""

from __future__ import annotations

import json
import socket
import statistics
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from urllib.parse import urlsplit

import attrs

from benchmarks import processes
from benchmarks.servers import Server, ask
from benchmarks.subscribers import Stream, close_code, receive, subscribe
from benchmarks.works import Call

Figures = dict[str, float]

ROOM = "/room"
JOBS = 900  # both queues take 1,000
SUBSCRIBERS = 200
BURST = Stream(count=500, size=100)
PACED = Stream(count=200, size=100, rate=50)
FLOOD = Stream(count=20_000, size=1000, rate=2000)
READERS = 20  # beside one that never reads
PATIENCE = 8.0  # seconds without a message, after which a channel counts as dead
CLOSE_TIMEOUT = 10.0
STALL = 6.0
"""How long the stalled reader reads nothing (seconds). A close code is the last that it reads: it
must come to that before the server gives up waiting for it, for fxtrio 5 s after it has closed."""


JOBS_RATE = "jobs a second"
RATE = "burst, deliveries a second"
COST = "burst, CPU µs per delivery"
LOST = "burst, subscribers cut off"
LATENESS_P50 = "50 a second, p50 ms"
LATENESS_P99 = "50 a second, p99 ms"
OTHERS_GOT = "beside a stalled reader, messages of 20,000"
OTHERS_LOST = "beside a stalled reader, others cut off"
OTHERS_P99 = "beside a stalled reader, p99 ms"
CLOSED_WITH = "the stalled reader is closed with"

EXTRA_TIMES = {JOBS_RATE: 0.5, RATE: 2.0}
"""How many times those of Pyxle fxtrio's figures should be."""

EXTRA_MOST = {COST: 5.0, LATENESS_P50: 2.5, LATENESS_P99: 5.0}
EXTRA_EXACTLY = {LOST: 0, OTHERS_GOT: FLOOD.count, OTHERS_LOST: 0, CLOSED_WITH: 1013}


@attrs.frozen
class Extra:
    """One kind of measurement; its ``name`` is also that of the call that begins it."""

    name: str
    what: str
    measure: Callable[[Server, Call], Figures]


def measure_jobs(server: Server, call: Call) -> Figures:
    """Return no-op jobs a second that one action hands over."""
    rates = []
    for _ in range(20):
        answer = json.loads(ask(server, call, body=json.dumps({"count": JOBS})))
        rates.append(JOBS / answer["seconds"])
        time.sleep(0.05)  # the jobs themselves
    return {JOBS_RATE: statistics.median(rates)}


def measure_channel(server: Server, call: Call) -> Figures:
    """Return how a channel serves many subscribers, and a few beside a stalled one."""
    port = urlsplit(server.base).port or 0
    return {
        **_fan_out(server, call, port),
        **_stalled(server, call, port),
    }


def _fan_out(server: Server, call: Call, port: int) -> Figures:
    rates, costs, lost = [], [], 0
    with ExitStack() as stack:
        clients = [stack.enter_context(subscribe(port, ROOM)) for _ in range(SUBSCRIBERS)]
        for number in range(4):
            cpu, began = processes.cpu_seconds(server.pid), time.monotonic()
            _begin(server, call, BURST)
            received = receive(BURST, clients, patience=PATIENCE)
            deliveries = received.least * SUBSCRIBERS
            lost += len(received.closed)
            used = processes.cpu_seconds(server.pid) - cpu
            if number:  # the first warms up
                rates.append(deliveries / (received.ended - began))
                costs.append(1e6 * used.total() / max(1, deliveries))
            if received.closed:
                break
        _begin(server, call, PACED)
        lateness = receive(PACED, clients, patience=PATIENCE).lateness
    return {
        RATE: statistics.median(rates or [0.0]),
        COST: statistics.median(costs or [0.0]),
        LOST: lost,
        LATENESS_P50: _percentile(lateness, 50),
        LATENESS_P99: _percentile(lateness, 99),
    }


def _stalled(server: Server, call: Call, port: int) -> Figures:
    with ExitStack() as stack:
        clients = [stack.enter_context(subscribe(port, ROOM)) for _ in range(READERS)]
        stalled = stack.enter_context(subscribe(port, ROOM, receive_buffer=4096))
        _begin(server, call, FLOOD)
        later = stack.enter_context(ThreadPoolExecutor()).submit(_stall, stalled)
        received = receive(FLOOD, clients, patience=PATIENCE)
        code = later.result()
    return {
        OTHERS_GOT: received.least,
        OTHERS_LOST: len(received.closed),
        OTHERS_P99: _percentile(received.lateness, 99),
        CLOSED_WITH: code or 0,
    }


def _stall(client: socket.socket) -> int | None:
    time.sleep(STALL)
    return close_code(client, patience=CLOSE_TIMEOUT)


def _begin(server: Server, call: Call, stream: Stream) -> None:
    ask(server, call, body=json.dumps(attrs.asdict(stream)))


def _percentile(values: Sequence[float], percent: int) -> float:
    """Return the percentile; 0 where next to nothing was measured."""
    if len(values) < 2:
        return 0.0
    return statistics.quantiles(values, n=100)[percent - 1]


EXTRAS = (
    Extra("enqueue", "no-op jobs that one action hands over", measure_jobs),
    Extra("websocket", "200 subscribers of a channel; 20 beside one that stalls", measure_channel),
)
