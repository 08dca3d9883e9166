"""How the suite chooses, judges and ends what it started."""

import subprocess
import sys
from collections.abc import Iterator
from datetime import datetime
from io import StringIO
from pathlib import Path

import psutil
import pytest
from rich.console import Console

from benchmarks import machine, processes
from benchmarks.cache import app_folder
from benchmarks.contenders import choose
from benchmarks.judge import judge
from benchmarks.measure import Plan, Sample, Visit
from benchmarks.report import show
from benchmarks.results import Results
from benchmarks.works import WORKS, Call

HELLO = WORKS[0]
PLAN = Plan(works=(HELLO,), extras=(), seconds=1, connections=(1, 32), rounds=2)


def sample(contender: str, number: int, rate: float, cpu: float) -> Sample:
    return Sample(
        contender=contender,
        work="hello",
        round=number,
        connections=32,
        rate=rate,
        p50=2.0,
        p99=3.0,
        errors={},
        cpu={"python": cpu},
    )


def visit(contender: str, number: int, rate: float, cpu: float) -> Visit:
    return Visit(
        contender=contender,
        round=number,
        started=0.5,
        idle_mb=80.0,
        sizes={"hello": 1000},
        samples=(sample(contender, number, rate, cpu),),
        extras={},
    )


@pytest.fixture
def results() -> Results:
    contenders = choose(("fxtrio", "pyxle"), with_next=False)
    results = Results(PLAN, {}, datetime(2026, 1, 1), contenders)
    for number, (ours, theirs) in enumerate([(900, 100), (700, 100), (800, 110)]):
        results.visits.append(visit("fxtrio", number, ours, 100.0))
        results.visits.append(visit("pyxle", number, theirs, 1000.0))
    return results


def test_rates_are_judged_as_ratios_of_medians(results):
    hello = next(one for one in judge(results) if one.target == "hello: fxtrio against pyxle")
    assert hello.measured == "8.0 x, with 1/10.0 of the CPU"
    assert hello.met


def test_figures_of_the_server_are_judged(results):
    start = next(one for one in judge(results) if one.target == "start, s")
    assert (start.measured, start.met) == ("0.50", True)


def test_results_are_written_with_their_medians(results, tmp_path: Path):
    text = results.write(tmp_path).read_text()
    assert '"rate": 800' in text


def test_next_takes_part_only_on_request():
    families = {contender.family for contender in choose((), with_next=False)}
    assert families == {"fxtrio", "pyxle", "starlette"}
    assert "next" in {contender.family for contender in choose((), with_next=True)}


def test_an_unknown_framework_is_named_with_those_that_are_known():
    with pytest.raises(ValueError, match="nuxt: no such framework"):
        choose(("nuxt",), with_next=False)


def test_every_contender_can_be_requested_known_works_only():
    known = {work.name for work in WORKS} | {"enqueue", "websocket"}
    for contender in choose((), with_next=True):
        assert set(contender.calls) <= known
        assert all(isinstance(call, Call) for call in contender.calls.values())


def test_apps_are_copied_out_of_the_checkout_before_they_are_built():
    for contender in choose((), with_next=True):
        if contender.build is not None:
            assert contender.build.folder == app_folder(contender.family)


PARENT = """
import subprocess, sys
child = subprocess.Popen([sys.executable, "-c", "import signal; signal.pause()"])
print(child.pid, flush=True)
child.wait()
"""


@pytest.fixture
def family() -> Iterator[tuple[subprocess.Popen[str], psutil.Process]]:
    parent = subprocess.Popen([sys.executable, "-c", PARENT], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    with parent.stdout:
        yield parent, psutil.Process(int(parent.stdout.readline()))
    if parent.poll() is None:
        processes.end(parent, patience=5)


def test_a_server_is_ended_with_its_children(family):
    parent, child = family
    assert len(processes.tree(parent.pid)) == 2
    processes.end(parent, patience=5)
    assert parent.returncode is not None
    assert not child.is_running() or child.status() == psutil.STATUS_ZOMBIE


def test_memory_and_cpu_are_those_of_the_whole_tree(family):
    parent, child = family
    assert processes.memory_mb(parent.pid) > processes.memory_mb(child.pid) > 0
    assert set(processes.cpu_seconds(parent.pid)) == {"python"}


def test_tables_are_markdown_on_request_and_never_wrapped(results):
    for markdown in (True, False):
        out = StringIO()
        show(results, Console(file=out, width=20), markdown=markdown)
        lines = out.getvalue().splitlines()
        assert any("work" in line and "pyxle" in line and "fxtrio" in line for line in lines)
        if markdown:
            assert any(line.startswith("| --- | ---: |") for line in lines)
            assert any(line.startswith("| hello | 800 (8.0)") for line in lines)


def test_the_calls_of_a_browser_are_the_same_but_for_their_headers():
    for contender in choose((), with_next=True):
        plain, browser = contender.calls["hello"], contender.calls.get("hello-chrome")
        if browser is not None:
            assert (browser.path, browser.contains) == (plain.path, plain.contains)
            assert len(browser.headers) >= 12


def test_the_share_of_busy_cores_is_measured():
    assert 0 <= machine.busy(0.05) <= 1
