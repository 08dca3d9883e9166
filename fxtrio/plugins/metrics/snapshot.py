"""Families of metrics as plain data: taken from registries, added up, and written as text.

No I/O. Processes exchange snapshots as JSON (`fxtrio.plugins.metrics.worker_files`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec
from prometheus_client import Metric, generate_latest
from prometheus_client.registry import Collector

_ADDED_UP = frozenset({"counter", "histogram", "summary"})
"""Types that only grow: what a process has counted stays true after its end."""

_LARGEST = ("_info", "_start_time_seconds", "_max_fds")
"""Ends of names of gauges that would mean nothing if they were added up: the largest counts."""


class Sampled(msgspec.Struct, frozen=True, array_like=True):
    """One line of the answer."""

    name: str
    labels: dict[str, str]
    value: float


class Family(msgspec.Struct, array_like=True):
    """Samples of one meaning."""

    name: str
    type: str
    text: str
    samples: list[Sampled]


Snapshot = list[Family]


def take(collectors: Iterable[Collector]) -> Snapshot:
    """Return what ``collectors`` have now."""
    return [_plain(metric) for one in collectors for metric in one.collect()]


def _plain(metric: Metric) -> Family:
    samples = [
        Sampled(sample.name, sample.labels, sample.value)
        for sample in metric.samples
        if not sample.name.endswith("_created")  # which Prometheus does not need
    ]
    return Family(metric.name, metric.type, metric.documentation, samples)


def of_the_dead(snapshot: Snapshot) -> Snapshot:
    """Return what stays true of a process after its end: what it has counted, and no gauges."""
    return [family for family in snapshot if family.type in _ADDED_UP]


def add_up(snapshots: Iterable[Snapshot]) -> Snapshot:
    """Return one snapshot of several processes, in the order of the first."""
    families: dict[str, Family] = {}
    values: dict[str, dict[tuple[Any, ...], Sampled]] = {}
    for snapshot in snapshots:
        for family in snapshot:
            families.setdefault(family.name, family)
            known = values.setdefault(family.name, {})
            largest = family.name.endswith(_LARGEST)
            for sample in family.samples:
                key = sample.name, *sorted(sample.labels.items())
                other = known.get(key)
                if other is not None:
                    value = (
                        max(sample.value, other.value) if largest else sample.value + other.value
                    )
                    sample = Sampled(sample.name, sample.labels, value)
                known[key] = sample
    return [
        Family(name, family.type, family.text, list(values[name].values()))
        for name, family in families.items()
    ]


class _Collected(Collector):
    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot

    def collect(self) -> Iterator[Metric]:
        for family in self._snapshot:
            metric = Metric(family.name, family.text, family.type)
            for sample in family.samples:
                metric.add_sample(sample.name, sample.labels, sample.value)
            yield metric


def as_text(snapshot: Snapshot) -> bytes:
    """Return a snapshot in the text format of Prometheus."""
    return generate_latest(_Collected(snapshot))
