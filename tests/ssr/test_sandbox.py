"""What page code in a worker can reach of the server's: nothing."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from fxtrio.ssr.process.sandbox import choose_permissions, worker_environment
from tests.ssr.pools import BUNDLES, open_pool, state

SNOOPING = BUNDLES / "snooping.mjs"
DENIED = b"refused: ERR_ACCESS_DENIED"


def test_a_worker_gets_the_variables_that_it_needs_and_those_that_are_public(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    passed = {
        "PATH": "/bin",
        "LANG": "C.UTF-8",
        "LC_TIME": "de_DE.UTF-8",
        "TZ": "Europe/Berlin",
        "NODE_OPTIONS": "--no-warnings",
        "FX_PUBLIC_SITE": "https://example.org",
    }
    secrets = ("FX_SECRET_KEY", "FX_PUBLIC", "DATABASE_URL", "AWS_SECRET_ACCESS_KEY", "LD_PRELOAD")
    for name in tuple(os.environ):
        monkeypatch.delenv(name)
    for name, value in {**passed, **dict.fromkeys(secrets, "tr0ub4dor")}.items():
        monkeypatch.setenv(name, value)

    assert worker_environment("production") == {**passed, "NODE_ENV": "production"}


@pytest.mark.node
async def test_page_code_finds_no_secret_in_its_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgres://tr0ub4dor@db")
    monkeypatch.setenv("FX_PUBLIC_SITE", "https://example.org")
    async with open_pool(bundle=SNOOPING) as pool:
        variables = json.loads((await pool.render(0, state("environment"))).html)
    assert "DATABASE_URL" not in variables
    assert variables["FX_PUBLIC_SITE"] == "https://example.org"


@pytest.mark.node
async def test_page_code_reads_no_file_but_its_own(tmp_path: Path) -> None:
    secret = tmp_path / ".env"
    secret.write_text("FX_SECRET_KEY=tr0ub4dor")
    async with open_pool(bundle=SNOOPING) as pool:
        paths = (str(secret), "/proc/PARENT/environ", "/proc/PARENT/mem", "/proc/self/environ")
        for path in paths:
            assert (await pool.render(0, state("read", path=path))).html == DENIED, path
        assert (await pool.render(0, state("list", path=str(tmp_path)))).html == DENIED
        own = await pool.render(0, state("read", path=str(SNOOPING)))
    assert b"buildId = 'snooping'" in own.html


@pytest.mark.node
async def test_page_code_writes_nothing_and_starts_nothing(tmp_path: Path) -> None:
    target = tmp_path / "written"
    async with open_pool(bundle=SNOOPING) as pool:
        assert (await pool.render(0, state("write", path=str(target)))).html == DENIED
        for act in ("command", "thread", "binding"):
            assert (await pool.render(0, state(act))).html == DENIED, act
    assert not target.exists()


@pytest.mark.node
async def test_page_code_signals_no_other_process() -> None:
    arrived: list[int] = []
    before = signal.signal(signal.SIGUSR1, lambda number, _: arrived.append(number))
    try:
        async with open_pool(bundle=SNOOPING) as pool:
            for how in ("kill", "_kill", "_debugProcess"):
                assert (await pool.render(0, state("signal", how=how))).html == DENIED, how
            assert (await pool.render(0, state("signal", how="kill", pid=0))).html == DENIED
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert arrived == []


@pytest.mark.node
async def test_a_bundle_is_found_whatever_its_folder_is_called(tmp_path: Path) -> None:
    real = tmp_path / "a,b *c %d é"
    real.mkdir()
    (real / "server.mjs").write_bytes((BUNDLES / "pages.mjs").read_bytes())
    (tmp_path / "linked").symlink_to(real)
    for folder in (real, tmp_path / "linked"):
        async with open_pool(bundle=folder / "server.mjs") as pool:
            assert (await pool.render(0, state())).html == b"<p>Hello, you</p>"


@pytest.mark.parametrize(
    ("version", "flag"),
    [
        ((20, 19, 0), "--experimental-permission"),
        ((22, 12, 0), "--experimental-permission"),
        ((22, 13, 0), "--permission"),
        ((23, 4, 0), "--experimental-permission"),
        ((23, 5, 0), "--permission"),
        ((24, 0, 0), "--permission"),
    ],
)
def test_each_node_version_gets_its_own_options(version: tuple[int, int, int], flag: str) -> None:
    flags = choose_permissions(version, [Path("/app")], threads=False)
    assert flags[0] == flag
    assert not [flag for flag in flags if flag.startswith("--allow-worker")]
    assert "--allow-net" not in flags


def test_the_network_stays_open_where_node_would_close_it() -> None:
    assert "--allow-net" in choose_permissions((25, 0, 0), [Path("/app")], threads=False)


READS_ITS_PARENT = """
import subprocess, sys
from functools import partial
from fxtrio.ssr.process.sandbox import close_memory, start_unprivileged
read = "import os; print(open(f'/proc/{os.getppid()}/environ', 'rb').read())"
start = partial(subprocess.run, [sys.executable, "-c", read], capture_output=True, text=True)
if "closed" in sys.argv:
    close_memory()
    done = start_unprivileged(start)
else:
    done = start()
print(done.stdout, done.stderr)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel of Linux does it")
@pytest.mark.parametrize(("how", "readable"), [("open", True), ("closed", False)])
def test_what_a_server_starts_cannot_read_the_servers_environment(how: str, readable: bool) -> None:
    done = subprocess.run(
        [sys.executable, "-c", READS_ITS_PARENT, how],
        env={**os.environ, "FX_SECRET_KEY": "tr0ub4dor"},
        capture_output=True,
        text=True,
        timeout=30,
        check=True,
    )
    assert ("tr0ub4dor" in done.stdout) is readable
    assert ("PermissionError" in done.stdout) is not readable
