"""fxtrio from this checkout, with and without the render memo."""

from __future__ import annotations

import compileall
import subprocess
import sys
from collections.abc import Mapping
from functools import partial
from importlib.metadata import version
from pathlib import Path

import fxtrio
from benchmarks import cache
from benchmarks.contenders.model import Command, Contender
from benchmarks.works import Call, runtime_calls

FAMILY = "fxtrio"

CALLS = runtime_calls(navigation={"x-fx-navigation": "1"})


def contenders() -> tuple[Contender, ...]:
    """Return fxtrio as it comes, and with every render done anew."""
    pages = {name: CALLS[name] for name in ("hello", "table")}
    return (
        _contender("fxtrio", "as it comes: unchanged pages are rendered once", CALLS, {}),
        _contender("fxtrio-no-memo", "ssr.memo off", pages, {"FX_SSR__MEMO": "false"}),
    )


def _contender(
    name: str, note: str, calls: Mapping[str, Call], env: Mapping[str, str]
) -> Contender:
    return Contender(
        name=name,
        family=FAMILY,
        note=note,
        version=_version,
        install=_install,
        build=Command(argv=(_fx(), "build"), folder=cache.app_folder(FAMILY)),
        serve=partial(_serve, env=env),
        calls=calls,
        prove=_prove,
    )


def _fx() -> str:
    return str(Path(sys.executable).with_name("fx"))


def _install() -> None:
    cache.copy_app(FAMILY)
    # As pip does with what it installs, and has done with the other frameworks.
    compileall.compile_dir(Path(fxtrio.__file__).parent, quiet=1)


def _version() -> str:
    command = ["git", "describe", "--always", "--dirty"]
    run = subprocess.run(command, cwd=cache.APPS, capture_output=True, text=True)
    commit = run.stdout.strip()
    return f"{version(FAMILY)} ({commit})" if commit else version(FAMILY)


def _serve(port: int, *, env: Mapping[str, str]) -> Command:
    return Command(
        argv=(_fx(), "serve", "--port", str(port)),
        folder=cache.app_folder(FAMILY),
        env={"FX_SECRET_KEY": "a secret key of the benchmark, 32 bytes or more", **env},
    )


def _prove(base: str) -> Mapping[str, str]:
    """Return what a browser says of a request from the app's own pages."""
    return {"origin": base, "sec-fetch-site": "same-origin"}
