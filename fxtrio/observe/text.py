"""A tree as text: one line for each task, below its owner. No I/O."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f]")


def text_of(tree: Mapping[str, Any]) -> str:
    """Return what `fx tree` prints of a tree with the keys of `Tree.as_dict`."""
    lines = [f"process {tree['process']}, {tree['tasks']} tasks"]
    if tree["omitted"]:
        lines[0] += f", {tree['omitted']} of them left out"
    if tree["held"]:
        lines.append(f"the event loop is blocked at {tree['held']}")
    lines += _lines(tree["root"], "")
    lines += [f"thread {thread['name']}  at {thread['at']}" for thread in tree["threads"]]
    return "".join(f"{_UNPRINTABLE.sub('?', line)}\n" for line in lines)


def _lines(node: Mapping[str, Any], indent: str, work: tuple[str, str] = ("", "")) -> Iterator[str]:
    parts = [indent + node["name"]]
    if node["count"] > 1:
        parts.append(f"x {node['count']}")
    if node["age"] is not None:
        parts.append(seconds(node["age"]))
    own = (node["work"], node["request"])
    if any(own) and own != work:  # those below it work for the same
        parts.append(f"« {_work(node)} »")
    elif node["part"]:
        parts.append(f"« {node['part']} »")
    if node["cancelled"]:
        parts.append("cancelled")
    elif node["left"] is not None:
        left = node["left"]
        parts.append(f"{seconds(left)} left" if left >= 0 else f"{seconds(-left)} overdue")
    if node["running"]:
        parts.append("runs")
    if node["at"]:
        parts.append(f" at {node['at']}")
    yield " ".join(parts)
    tasks: Sequence[Mapping[str, Any]] = node["tasks"]
    for task in tasks:
        yield from _lines(task, indent + "  ", own)


def _work(node: Mapping[str, Any]) -> str:
    said: str = node["work"]
    if node["since"] is not None:
        said += f" {seconds(node['since'])}"
    if node["part"]:
        said += f", {node['part']}"
    if node["request"]:
        said += f", request {node['request'][:8]}" if said else f"request {node['request'][:8]}"
    return said


def seconds(value: float) -> str:
    """Return a time as people read it: ``1.6 s``, ``3 min``, ``2.5 h``."""
    if abs(value) < 120:
        return f"{value:.1f} s"
    return f"{value / 60:.0f} min" if abs(value) < 7200 else f"{value / 3600:.1f} h"
