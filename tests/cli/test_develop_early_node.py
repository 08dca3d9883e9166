"""Node, which `fx dev` starts before it has read anything of the project."""

from __future__ import annotations

import os
import socket
import subprocess
from pathlib import Path

import pytest

from fxtrio.config import Config
from fxtrio.develop.processes import launch
from fxtrio.develop.processes.early_node import EarlyNode, starting_early
from fxtrio.node import ALLOCATOR, Node, NodeMissing


@pytest.fixture
def node(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return what is found in the place of Node, and ends when its input does."""
    script = tmp_path / "bin/node"
    script.parent.mkdir()
    script.write_text("#!/bin/sh\nexec /bin/cat\n")
    script.chmod(0o755)
    monkeypatch.setenv("PATH", str(script.parent))
    return script


def pid_of(early: EarlyNode) -> int:
    assert early._process is not None
    return early._process.pid


def runs(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()


def test_it_is_taken_once_by_whoever_wants_the_same(tmp_path: Path, node: Path) -> None:
    with starting_early(tmp_path) as early:
        assert early is not None
        taken = early.take(node, tmp_path)
        assert taken is not None
        assert early.take(node, tmp_path) is None
    with taken:
        assert taken.poll() is None  # the block has left it alone
        taken.kill()


@pytest.mark.parametrize("other", ["node", "folder", "variable"])
def test_it_ends_where_another_one_is_wanted(
    tmp_path: Path, node: Path, monkeypatch: pytest.MonkeyPatch, other: str
) -> None:
    with starting_early(tmp_path) as early:
        assert early is not None
        pid = pid_of(early)
        if other == "variable":
            monkeypatch.setenv("NODE_OPTIONS", "--no-warnings")  # as of a file `.env`
        wanted = tmp_path / "node" if other == "node" else node
        folder = tmp_path / "bin" if other == "folder" else tmp_path
        assert early.take(wanted, folder) is None
        assert not runs(pid)  # long before the block ends, which is when `fx dev` does


@pytest.mark.parametrize("reason", ["no whole toolchain", "too old", "another one is used"])
def test_it_ends_where_it_is_not_used(
    tmp_path: Path, node: Path, monkeypatch: pytest.MonkeyPatch, reason: str
) -> None:
    other = tmp_path / "from-pypi"
    other.symlink_to(node)

    def find_node() -> Node:
        if reason == "too old":
            raise NodeMissing("20.19")
        return Node(other, (24, 0, 0), None)

    def launch_server(server: launch.Server) -> launch.LaunchedServer:
        process = subprocess.Popen(["/bin/cat"], stdin=subprocess.PIPE, bufsize=0)
        return launch.LaunchedServer(process, os.open(os.devnull, os.O_RDONLY))

    monkeypatch.setattr(launch, "find_node", find_node)
    monkeypatch.setattr(launch, "launch_server", launch_server)
    monkeypatch.setattr(launch, "is_whole", lambda _: reason != "no whole toolchain")
    with starting_early(tmp_path) as early, socket.socket() as listener:
        assert early is not None
        pid = pid_of(early)
        server = launch.Server(
            root=tmp_path, app="app:app", host="localhost", vite=tmp_path, socket=listener
        )
        with launch.starting_ahead(server, Config(), early):
            assert not runs(pid)


def test_variables_for_browsers_may_come_later(
    tmp_path: Path, node: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with starting_early(tmp_path) as early:
        assert early is not None
        monkeypatch.setenv("FX_PUBLIC_NAME", "of a file `.env`")  # it comes with the settings
        taken = early.take(node, tmp_path)
    assert taken is not None
    assert taken.stdin is not None
    assert taken.stdout is not None
    with taken:
        taken.stdin.write(b"ready\n")  # a new process has no variables until it is what it becomes
        assert taken.stdout.readline() == b"ready\n"
        environment = Path(f"/proc/{taken.pid}/environ").read_bytes()
        assert b"FX_PUBLIC_NAME" not in environment
        assert {f"{name}={value}".encode() for name, value in ALLOCATOR.items()} <= {
            *environment.split(b"\0")
        }
        taken.kill()


@pytest.mark.parametrize("reason", ["no node", "a link"])
def test_nothing_is_started_that_cannot_be(tmp_path: Path, node: Path, reason: str) -> None:
    if reason == "no node":
        node.unlink()
    else:
        (tmp_path / ".fx").symlink_to(tmp_path)
    with starting_early(tmp_path) as early:
        assert early is None
