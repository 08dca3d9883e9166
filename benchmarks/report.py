"""The figures as tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from rich.console import Console
from rich.table import Table

from benchmarks.judge import Judgement, judge
from benchmarks.results import Key, Median, Medians, Results

NONE = "-"
RIVALS = ("pyxle", "pyxle-production")


def show(results: Results, console: Console) -> None:
    """Print rates, latency, CPU, what servers cost, and the targets."""
    medians = results.medians()

    def rate(key: Key) -> str:
        return _rate(medians, key)

    for title, cell in (
        ()
        if not results.plan.works
        else (
            ("answers a second (times Pyxle as shipped / production)", rate),
            ("p50 / p99 in milliseconds", lambda key: _latency(medians[key])),
            ("CPU microseconds per answer", lambda key: _cpu(medians[key])),
        )
    ):
        for connections in results.plan.connections:
            noun = "connection" if connections == 1 else "connections"
            console.print(f"\n[bold]{title}, {connections} {noun}[/bold]")
            console.print(_table(results, medians, connections, cell))
    if results.plan.extras:
        console.print("\n[bold]jobs and WebSockets[/bold]")
        console.print(_extras(results))
    console.print("\n[bold]servers[/bold]")
    console.print(_servers(results))
    judgements = list(judge(results))
    if judgements:
        console.print("\n[bold]targets[/bold]")
        console.print(_targets(judgements))


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


def _cpu(median: Median) -> str:
    parts = [f"{used:,.0f} {program}" for program, used in median.cpu.items() if used >= 0.5]
    if len(parts) > 1:
        parts.append(f"= {sum(median.cpu.values()):,.0f}")
    return " + ".join(parts[:-1]) + f" {parts[-1]}" if len(parts) > 1 else "".join(parts)


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
