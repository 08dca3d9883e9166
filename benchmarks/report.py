"""The figures as tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from benchmarks.judge import Judgement, judge
from benchmarks.machine import QUIET
from benchmarks.results import Key, Median, Medians, Results

NONE = "-"
RIVALS = ("pyxle", "pyxle-production")
PLAIN = "starlette"
"""A server with templates and no framework, whose CPU time others are compared with."""


def warn_if_busy(facts: Mapping[str, Any], console: Console) -> None:
    """Say so when other work on the machine makes figures of different runs incomparable."""
    share = float(facts["busy_before"])
    if share > QUIET:
        console.print(
            f"The machine is not quiet: {share:.0%} of its cores are busy with other work. "
            "Compare ratios within this run only.",
            style="yellow",
        )


def show(results: Results, console: Console, *, markdown: bool = False) -> None:
    """Print rates, latency, CPU, what servers cost, and the targets."""
    medians = results.medians()

    def put(title: str, table: Table) -> None:
        if markdown:
            console.print(f"\n### {title}\n\n{as_markdown(table)}", markup=False, soft_wrap=True)
        else:
            console.print(f"\n[bold]{title}[/bold]")
            width = console.measure(table, options=console.options.update(width=10_000)).maximum
            console.width = max(width, console.width)  # rich breaks cells that do not fit
            console.print(table, soft_wrap=True)

    def rate(key: Key) -> str:
        return _rate(medians, key)

    for title, cell in (
        ()
        if not results.plan.works
        else (
            ("answers a second (times Pyxle as shipped / production)", rate),
            ("p50 / p99 in milliseconds", lambda key: _latency(medians[key])),
            ("CPU microseconds per answer (times Starlette)", lambda key: _cpu(medians, key)),
        )
    ):
        for connections in results.plan.connections:
            noun = "connection" if connections == 1 else "connections"
            put(f"{title}, {connections} {noun}", _table(results, medians, connections, cell))
    if results.plan.extras:
        put("jobs and WebSockets", _extras(results))
    put("servers", _servers(results))
    judgements = list(judge(results))
    if judgements:
        put("targets", _targets(judgements))


def as_markdown(table: Table) -> str:
    """Return a table in the syntax of GitHub, numbers at the right."""
    columns = [[_plain(column.header), *map(_plain, column.cells)] for column in table.columns]
    rows = [f"| {' | '.join(row)} |" for row in zip(*columns, strict=True)]
    marks = ("---:" if column.justify == "right" else "---" for column in table.columns)
    return "\n".join([rows[0], f"| {' | '.join(marks)} |", *rows[1:]])


def _plain(cell: object) -> str:
    return Text.from_markup(str(cell)).plain.replace("|", "\\|")


def _table(
    results: Results, medians: Medians, connections: int, cell: Callable[[Key], str]
) -> Table:
    table = _with_contenders("work", results)
    for work in results.plan.works:
        keys = [(contender.name, work.name, connections) for contender in results.contenders]
        table.add_row(work.name, *(cell(key) if key in medians else NONE for key in keys))
    return table


def _with_contenders(first: str, results: Results) -> Table:
    table = Table(first)
    for contender in results.contenders:
        table.add_column(contender.name, justify="right")
    return table


def _rate(medians: Medians, key: Key) -> str:
    median = medians[key]
    rivals = (medians.get((rival, *key[1:])) for rival in RIVALS)
    times = " / ".join(f"{median.rate / r.rate:.1f}" for r in rivals if r and r.rate)
    failed = f" [red]{median.errors} errors[/red]" if median.errors else ""
    return f"{median.rate:,.0f}{f' ({times})' if times else ''}{failed}"


def _latency(median: Median) -> str:
    return f"{median.p50:.2f} / {median.p99:.2f}"


def _cpu(medians: Medians, key: Key) -> str:
    used = medians[key].cpu
    parts = [f"{each:,.0f} {program}" for program, each in used.items() if each >= 0.5]
    if len(parts) > 1:
        parts.append(f"= {sum(used.values()):,.0f}")
    text = " + ".join(parts[:-1]) + f" {parts[-1]}" if len(parts) > 1 else "".join(parts)
    rival = medians.get((PLAIN, *key[1:]))
    if rival is None or key[0] == PLAIN or not sum(rival.cpu.values()):
        return text
    return f"{text} ({sum(used.values()) / sum(rival.cpu.values()):.2f})"


def _servers(results: Results) -> Table:
    table = _with_contenders("", results)
    for title, name, digits in (
        ("start to the first answer, s", "started", 2),
        ("memory idle, MB", "idle_mb", 0),
    ):
        values = [results.of_visits(contender.name, name) for contender in results.contenders]
        table.add_row(title, *(NONE if v is None else f"{v:.{digits}f}" for v in values))
    builds = [results.build_seconds(contender) for contender in results.contenders]
    table.add_row("build, s", *(NONE if b is None else f"{b:.2f}" for b in builds))
    return table


def _extras(results: Results) -> Table:
    table = _with_contenders("figure", results)
    for (extra, figure), medians in results.extras().items():
        values = (medians.get(contender.name) for contender in results.contenders)
        cells = (NONE if value is None else _number(value) for value in values)
        table.add_row(f"{extra}: {figure}", *cells)
    return table


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}"


def _targets(judgements: Iterable[Judgement]) -> Table:
    table = Table("target", "wanted", "measured", "")
    for judgement in judgements:
        verdict = "[green]met[/green]" if judgement.met else "[red]missed[/red]"
        table.add_row(judgement.target, judgement.wanted, judgement.measured, verdict)
    return table
