"""The bundler, which `fx build` starts before it has read anything of the project."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
import trio

from fxtrio.compile.bundling.bundle import BundlePlan, bundle
from fxtrio.compile.bundling.early_bundler import EarlyBundler, bundling_early
from fxtrio.compile.bundling.installation import LISTING

NODE = """#!/bin/sh
[ "$1" = --version ] && echo v22.20.0 && exit
exec /bin/cat
"""


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of the toolchain; in the place of Node is what ends with its input."""
    node = tmp_path / "bin/node"
    node.parent.mkdir()
    node.write_text(NODE)
    node.chmod(0o755)
    monkeypatch.setenv("PATH", str(node.parent))
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / LISTING).write_text("{}")
    monkeypatch.setattr("fxtrio.compile.bundling.early_bundler.toolchain_folder", lambda: tools)
    return tools


def process_of(early: EarlyBundler) -> subprocess.Popen[bytes]:
    assert early._process is not None
    return early._process


def test_it_is_taken_once_and_left_alone_then(tmp_path: Path, tools: Path) -> None:
    with bundling_early(tmp_path) as early:
        assert early is not None
        taken = early.take(tmp_path, tools)
        assert taken is not None
        assert early.take(tmp_path, tools) is None
    assert taken.communicate(b"a plan") == (b"a plan", b"")


@pytest.mark.parametrize("other", ["root", "variable", "tools"])
def test_it_ends_where_another_one_is_wanted(
    tmp_path: Path, tools: Path, monkeypatch: pytest.MonkeyPatch, other: str
) -> None:
    with bundling_early(tmp_path) as early:
        assert early is not None
        process = process_of(early)
        if other == "variable":
            monkeypatch.setenv("NODE_OPTIONS", "--no-warnings")
        if other == "tools":  # which have been installed again
            os.utime(tools / LISTING, (1, 1))
        assert early.take(tmp_path / "a" if other == "root" else tmp_path, tools) is None
    assert process.returncode == -9


def test_it_ends_with_a_build_that_fails_before(tmp_path: Path, tools: Path) -> None:
    with pytest.raises(ZeroDivisionError), bundling_early(tmp_path) as early:
        assert early is not None
        process = process_of(early)
        raise ZeroDivisionError
    assert process.returncode == -9


async def test_it_ends_and_closes_its_pipes_when_a_build_is_cancelled_at_once(
    tmp_path: Path, tools: Path
) -> None:
    plan = BundlePlan(root=tmp_path, staging=tmp_path, mode="production", modules=(), views=())
    with bundling_early(tmp_path) as early:
        assert early is not None
        process = process_of(early)
        with trio.CancelScope() as scope:
            scope.cancel()
            await bundle(plan, toolchain=tools, early=early)
    assert process.returncode == -9
    for pipe in (process.stdin, process.stdout, process.stderr):
        assert pipe is not None
        assert pipe.closed


@pytest.mark.parametrize("missing", ["node", "tools"])
def test_without_node_or_tools_it_is_not_there(
    tmp_path: Path, tools: Path, monkeypatch: pytest.MonkeyPatch, missing: str
) -> None:
    if missing == "node":
        monkeypatch.setattr("fxtrio.node._candidates", lambda: ())
    else:
        (tools / LISTING).unlink()
    with bundling_early(tmp_path) as early:
        assert early is None
