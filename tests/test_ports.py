"""No two processes get one port, however many ask, and a port is free again when they end."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.ports import PORTS, Ports, not_the_kernels

HOLDER = """
import sys
from pathlib import Path
from tests.ports import Ports

print(Ports(Path(sys.argv[1]), range(*map(int, sys.argv[2:]))).reserve(), flush=True)
sys.stdin.read()
"""
ROOT = Path(__file__).parents[1]

Hold = Callable[[range], "subprocess.Popen[str]"]


@pytest.fixture
def three() -> range:
    """Ports that nobody else uses as long as this process lives."""
    first = PORTS.reserve(3)
    return range(first, first + 3)


@pytest.fixture
def hold(tmp_path: Path) -> Iterator[Hold]:
    """Let another process reserve one of some ports, and keep it."""
    with ExitStack() as stack:

        def start(among: range) -> subprocess.Popen[str]:
            words = [str(tmp_path / "ports"), str(among.start), str(among.stop)]
            process = subprocess.Popen(
                [sys.executable, "-c", HOLDER, *words],
                cwd=ROOT,
                text=True,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
            )
            stack.enter_context(process)  # which closes its input, and so it ends
            return process

        yield start


def port_of(process: subprocess.Popen[str]) -> int:
    assert process.stdout is not None
    return int(process.stdout.readline())


def test_each_process_gets_another_until_one_ends(hold: Hold, three: range, tmp_path: Path) -> None:
    holders = [hold(three) for _ in three]
    assert {port_of(process) for process in holders} == {*three}
    mine = Ports(tmp_path / "ports", three)
    with pytest.raises(RuntimeError, match="no 1 free ports in a row"):
        mine.reserve()
    holders[0].kill()
    holders[0].wait(20)
    assert mine.reserve() in three
    with pytest.raises(RuntimeError, match="no 1 free"):
        mine.reserve()


def test_a_process_gets_each_once(three: range, tmp_path: Path) -> None:
    ports = Ports(tmp_path / "ports", three)
    assert {ports.reserve() for _ in three} == {*three}


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0"])
def test_what_somebody_listens_on_is_left_out(host: str, three: range, tmp_path: Path) -> None:
    with socket.create_server((host, three[1])):
        ports = Ports(tmp_path / "ports", three)
        assert {ports.reserve(), ports.reserve()} == {three[0], three[2]}


def test_ports_in_a_row_are_all_reserved(hold: Hold, three: range, tmp_path: Path) -> None:
    two = Ports(tmp_path / "ports", three).reserve(2)
    assert {two, two + 1, port_of(hold(three))} == {*three}
    with pytest.raises(RuntimeError, match="no 4 free"):
        Ports(tmp_path / "ports", three).reserve(4)


@pytest.mark.parametrize(
    ("kernels", "ours"),
    [
        ("32768 60999", range(10_240, 32_768)),
        ("10000\t50000\n", range(50_001, 65_536)),
        ("1024 65535", range(10_240, 65_536)),  # then the locks and the attempts must do
    ],
)
def test_the_kernel_gives_none_of_them_to_others(kernels: str, ours: range) -> None:
    assert not_the_kernels(kernels) == ours
