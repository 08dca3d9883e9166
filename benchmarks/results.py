"""All figures of one run: medians over the rounds, ratios, and the JSON file."""

from __future__ import annotations

import json
import statistics
from collections import defaultdict
from datetime import datetime
from pathlib import Path
from typing import Any

import attrs

from benchmarks.contenders import Contender
from benchmarks.measure import Plan, Sample, Visit

FOLDER = Path(__file__).parent / "results"


@attrs.frozen
class Median:
    """The medians of one work of one contender over some connections."""

    rate: float
    p50: float
    p99: float
    errors: int
    cpu: dict[str, float]


Key = tuple[str, str, int]
"""Contender, work, connections."""

Medians = dict[Key, Median]


@attrs.define
class Results:
    """Grows while the suite runs."""

    plan: Plan
    machine: dict[str, Any]
    began: datetime
    contenders: tuple[Contender, ...]
    visits: list[Visit] = attrs.field(factory=list)
    builds: dict[str, list[float]] = attrs.field(factory=dict)
    """Seconds per build of a family."""

    failures: list[str] = attrs.field(factory=list)

    def medians(self) -> Medians:
        """Return ``{(contender, work, connections): medians}``."""
        groups: dict[Key, list[Sample]] = defaultdict(list)
        for visit in self.visits:
            for sample in visit.samples:
                groups[sample.contender, sample.work, sample.connections].append(sample)
        return {key: _median(samples) for key, samples in groups.items()}

    def extras(self) -> dict[tuple[str, str], dict[str, float]]:
        """Return ``{(extra, figure): {contender: median}}``."""
        groups: dict[tuple[str, str], dict[str, list[float]]] = defaultdict(dict)
        for visit in self.visits:
            for extra, figures in visit.extras.items():
                for figure, value in figures.items():
                    groups[extra, figure].setdefault(visit.contender, []).append(value)
        return {
            key: {contender: statistics.median(values) for contender, values in group.items()}
            for key, group in groups.items()
        }

    def of_visits(self, contender: str, name: str) -> float | None:
        """Return the median over a contender's visits of ``started``, ``idle_mb``…"""
        values = [getattr(visit, name) for visit in self.visits if visit.contender == contender]
        return statistics.median(values) if values else None

    def build_seconds(self, contender: Contender) -> float | None:
        """Return the median time of a build, or None where nothing is built."""
        times = self.builds.get(contender.family)
        return statistics.median(times) if times else None

    def write(self, folder: Path = FOLDER) -> Path:
        """Write everything to ``<date>.json`` and return its path."""
        folder.mkdir(exist_ok=True)
        path = folder / f"{self.began:%Y-%m-%dT%H-%M-%S}.json"
        path.write_text(json.dumps(self._as_json(), indent=1) + "\n")
        return path

    def _as_json(self) -> dict[str, Any]:
        return {
            "began": self.began.isoformat(timespec="seconds"),
            "machine": self.machine,
            "seconds": self.plan.seconds,
            "rounds": self.plan.rounds,
            "contenders": {
                c.name: {
                    "version": c.version(),
                    "note": c.note,
                    "start_s": self.of_visits(c.name, "started"),
                    "idle_mb": self.of_visits(c.name, "idle_mb"),
                    "build_s": self.build_seconds(c),
                }
                for c in self.contenders
            },
            "medians": [
                {"contender": name, "work": work, "connections": connections} | attrs.asdict(median)
                for (name, work, connections), median in self.medians().items()
            ],
            "extras": [
                {"extra": extra, "figure": figure, "medians": medians}
                for (extra, figure), medians in self.extras().items()
            ],
            "builds": self.builds,
            "visits": [attrs.asdict(visit) for visit in self.visits],
            "failures": self.failures,
        }


def _median(samples: list[Sample]) -> Median:
    programs = {program for sample in samples for program in sample.cpu}
    return Median(
        rate=statistics.median(sample.rate for sample in samples),
        p50=statistics.median(sample.p50 for sample in samples),
        p99=statistics.median(sample.p99 for sample in samples),
        errors=sum(sum(sample.errors.values()) for sample in samples),
        cpu={
            program: statistics.median(sample.cpu.get(program, 0.0) for sample in samples)
            for program in sorted(programs)
        },
    )
