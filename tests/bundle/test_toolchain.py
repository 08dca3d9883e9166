"""Installing the toolchain: once, whole, by one process at a time."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest
import trio

from fxtrio.compile.bundling.installation import JS, part_of_lock, tool, toolchain_folder
from fxtrio.compile.bundling.toolchain import ToolchainFailed, ensure_installed, ensure_toolchain

FAKE_NPM = """#!/bin/sh
echo "$@" >> "$FAKE_NPM_CALLS"
if [ -n "$FAKE_NPM_ERROR" ]; then echo "npm error code $FAKE_NPM_ERROR" >&2; exit 1; fi
mkdir -p node_modules/react
echo 'module.exports = 19' > node_modules/react/index.js
"""


@pytest.fixture
def calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An npm that makes one small package, and the file it writes its arguments to."""
    real = shutil.which("node")
    assert real is not None, "these tests need Node"
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "node").symlink_to(real)
    (folder / "npm").write_text(FAKE_NPM)
    (folder / "npm").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}/usr/bin{os.pathsep}/bin")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("FAKE_NPM_CALLS", str(tmp_path / "calls"))
    return tmp_path / "calls"


def arguments_of(calls: Path) -> list[list[str]]:
    """Return what npm was called with, once for each call."""
    return [line.split() for line in calls.read_text().splitlines()] if calls.exists() else []


async def ensure() -> tuple[Path, list[str]]:
    messages: list[str] = []
    with trio.fail_after(60):
        return await ensure_toolchain(messages.append), messages


async def test_it_is_installed_once(calls: Path) -> None:
    folder, messages = await ensure()
    again, silent = await ensure()
    assert folder == again == toolchain_folder()
    assert (folder / "node_modules/react/index.js").is_file()
    assert len(arguments_of(calls)) == 1
    assert len(messages) == 2 and str(folder) in messages[0]
    assert silent == []


async def test_npm_installs_exactly_the_lock_and_runs_no_scripts(calls: Path) -> None:
    await ensure()
    [words] = arguments_of(calls)
    assert words[0] == "ci"
    assert {"--omit=dev", "--ignore-scripts", "--prefer-offline"} <= set(words)


async def test_a_tool_has_a_folder_of_its_own_and_only_its_packages(calls: Path) -> None:
    toolchain_at, _ = await ensure()
    with trio.fail_after(60):
        folder = await ensure_installed(tool("prettier"), lambda line: None)
    assert folder != toolchain_at and folder.name.startswith("prettier-")
    assert len(arguments_of(calls)) == 2
    lock = json.loads((folder / "package-lock.json").read_text())
    whole = json.loads((JS / "package-lock.json").read_text())
    assert lock["packages"].keys() == {"", "node_modules/prettier"}
    [name] = json.loads((folder / "package.json").read_text())["dependencies"]
    assert name == "prettier"
    pinned, entry = (each["packages"]["node_modules/prettier"] for each in (whole, lock))
    assert (pinned["version"], pinned["integrity"]) == (entry["version"], entry["integrity"])
    assert "dev" not in entry, "npm would leave it out"


def test_a_tool_comes_with_what_it_needs_for_every_system() -> None:
    lock = json.loads(tool("typescript").lock)
    assert "node_modules/@typescript/typescript-linux-x64" in lock["packages"]
    assert "node_modules/@typescript/typescript-win32-x64" in lock["packages"]
    assert "node_modules/react" not in lock["packages"]


def test_a_package_within_a_package_is_found_before_one_beside_it() -> None:
    entries = {
        "node_modules/a": {"version": "1", "dependencies": {"b": "1"}, "dev": True},
        "node_modules/a/node_modules/b": {"version": "1", "dependencies": {"c": "1", "x": "1"}},
        "node_modules/b": {"version": "2", "dev": True},
        "node_modules/c": {"version": "1", "optionalDependencies": {"b": "2"}},
    }
    _, part = part_of_lock(json.dumps({"packages": entries}).encode(), ("a",))
    assert json.loads(part)["packages"].keys() == {"", *entries}
    _, part = part_of_lock(json.dumps({"packages": entries}).encode(), ("c",))
    assert json.loads(part)["packages"].keys() == {"", "node_modules/b", "node_modules/c"}


async def test_a_damaged_toolchain_is_installed_again(calls: Path) -> None:
    folder, _ = await ensure()
    (folder / "node_modules/react/index.js").write_text("cut")
    again, messages = await ensure()
    assert again == folder and "again" in messages[0]
    assert (folder / "node_modules/react/index.js").read_text() == "module.exports = 19\n"


async def test_an_installation_that_was_killed_is_done_again(calls: Path) -> None:
    folder = toolchain_folder()
    left = folder.with_name(f"{folder.name}.part-999")
    left.mkdir(parents=True)
    (left / "package.json").write_text("{}")
    await ensure()
    # What Node's version is, is in the same folder.
    assert {path.name for path in folder.parent.iterdir()} - {"node.json"} == {
        folder.name,
        f"{folder.name}.lock",
    }


async def test_of_two_at_once_one_installs_and_the_other_waits(calls: Path) -> None:
    messages: list[list[str]] = []

    async def one() -> None:
        messages.append((await ensure())[1])

    async with trio.open_nursery() as nursery:
        nursery.start_soon(one)
        nursery.start_soon(one)
    assert len(arguments_of(calls)) == 1
    assert sorted(map(len, messages)) == [1, 2], "the other one only says that it waits"


async def test_cancelling_leaves_nothing_half_installed(calls: Path) -> None:
    npm = calls.parent / "bin/npm"
    npm.write_text('#!/bin/sh\necho "$@" >> "$FAKE_NPM_CALLS"\nexec sleep 3600\n')
    with trio.fail_after(60):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(ensure_toolchain, lambda line: None)
            while not arguments_of(calls):  # noqa: ASYNC110 - a process sets no event here
                await trio.sleep(0.01)
            nursery.cancel_scope.cancel()
    names = {path.name for path in toolchain_folder().parent.iterdir()} - {"node.json"}
    assert names == {f"{toolchain_folder().name}.lock"}


@pytest.mark.parametrize(
    ("code", "cause"),
    [("ENOTFOUND", "cannot be reached"), ("ENOSPC", "disk is full"), ("EOTHER", "code 1")],
)
async def test_a_failed_installation_says_why(
    calls: Path, monkeypatch: pytest.MonkeyPatch, code: str, cause: str
) -> None:
    monkeypatch.setenv("FAKE_NPM_ERROR", code)
    with pytest.raises(ToolchainFailed, match=cause) as caught:
        await ensure()
    assert f"npm error code {code}" in caught.value.output
    assert ("npm error" in str(caught.value)) is (code == "EOTHER")
    assert not toolchain_folder().exists()


async def test_without_a_registry_and_a_cache_the_error_names_the_missing_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("npm_config_registry", "http://127.0.0.1:1")
    monkeypatch.setenv("npm_config_cache", str(tmp_path / "npm"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    wanted = tool("prettier")
    with trio.fail_after(120), pytest.raises(ToolchainFailed) as caught:
        await ensure_installed(wanted, lambda line: None)
    version = json.loads(wanted.package)["dependencies"]["prettier"]
    assert str(caught.value) == (
        f"{wanted.folder}: the package registry http://127.0.0.1:1 cannot be reached, and "
        f"these packages, or what they need, are not in npm's cache: prettier {version}. "
        "Check the network and npm's proxy settings, then run the command again; for a machine "
        "without a network, copy this folder from one of the same kind."
    )


async def test_a_cache_that_cannot_be_written_is_named(
    calls: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with pytest.raises(ToolchainFailed, match="XDG_CACHE_HOME"):
        await ensure()


def test_the_lock_names_no_registry_and_pins_every_package() -> None:
    lock = json.loads((JS / "package-lock.json").read_text())
    packages = {name: entry for name, entry in lock["packages"].items() if name}
    assert packages
    assert not any("resolved" in entry for entry in packages.values())
    assert all("integrity" in entry for entry in packages.values())
    wanted = json.loads((JS / "package.json").read_text())
    for name, version in {**wanted["dependencies"], **wanted["devDependencies"]}.items():
        assert packages[f"node_modules/{name}"]["version"] == version


def test_packages_for_every_system_are_locked() -> None:
    lock = json.loads((JS / "package-lock.json").read_text())
    for system in ("linux-x64-gnu", "linux-arm64-musl", "darwin-arm64", "win32-x64-msvc"):
        assert f"node_modules/@rolldown/binding-{system}" in lock["packages"]
