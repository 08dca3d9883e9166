"""The same pages as sites of fxtrio and of others: installed, built, and served for a block."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import attrs

from benchmarks import cache
from tests.e2e.support import serving
from tests.ports import free_port

PAGES = {"hello": "/", "docs page": "/guide", "counter": "/counter"}
"""The pages that all sites have, by name."""

_GUIDE = Path(__file__).parents[2] / "docs/guides/editors.md"
"""The documentation page: one of middle length."""

_LINK = re.compile(r"(?<!!)\[([^\]]*)\]\([^)]*\)")
_BUILD_TIME = 300.0  # seconds

_QUIET = {"ASTRO_TELEMETRY_DISABLED": "1", "NEXT_TELEMETRY_DISABLED": "1"}


@attrs.frozen
class Site:
    """The pages of one framework."""

    name: str
    version: str
    serve: Callable[[], AbstractContextManager[str]]
    """Serves them for the length of a block, which gets the URL of the home page."""

    pages: Mapping[str, str] = PAGES


def own_site() -> Site:
    """Build the site of fxtrio. Raises InstallFailed."""
    folder = cache.copy_app("weight-fxtrio")
    guide = _LINK.sub(r"\1", _GUIDE.read_text(encoding="utf-8"))
    (folder / "pages/guide.md").write_text(guide, encoding="utf-8")
    _run([*_fx(), "build"], folder)
    return Site("fxtrio", "this checkout", partial(_served_by_fx, folder))


def starter_site(folder: Path = cache.CACHE / "weight-starter") -> Site:
    """Build what `fx init` writes now, into a folder that is replaced. Raises InstallFailed."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.parent.mkdir(parents=True, exist_ok=True)
    _run([*_fx(), "init", str(folder), "--yes"], folder.parent)
    _run([*_fx(), "build"], folder)
    pages = {"starter /about": "/about", "starter /": "/"}
    return Site("fxtrio", "this checkout", partial(_served_by_fx, folder), pages)


def peer_site(name: str, title: str, package: str, out: str, guide: str, article: str) -> Site:
    """Install and build the site of another framework, whose docs page shows ``article`` (HTML).

    ``package`` is the npm package of the framework, ``out`` the folder of its build, and
    ``guide`` the file that the docs page reads. Raises InstallFailed.
    """
    cache.install_node(f"weight-{name}")
    folder = cache.app_folder(f"weight-{name}")
    (folder / guide).write_text(article, encoding="utf-8")
    _run(["npx", package, "build"], folder)
    manifest = (
        folder / "node_modules" / _PACKAGES.get(package, package) / "package.json"
    ).read_text()
    found = re.search(r'"version":\s*"([^"]+)"', manifest)
    return Site(title, found[1] if found else "unknown", partial(_served_as_files, folder / out))


_PACKAGES = {"vite": "@sveltejs/kit"}
"""The package that has the version, where another one builds."""

PEERS = (
    ("astro", "Astro", "astro", "dist", "src/guide.html"),
    ("sveltekit", "SvelteKit", "vite", "build", "src/guide.html"),
    ("next", "Next.js", "next", "out", "guide.html"),
)


def _fx() -> list[str]:
    return [sys.executable, "-m", "fxtrio"]


def _run(command: list[str], folder: Path) -> None:
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, **_QUIET},
        capture_output=True,
        text=True,
        timeout=_BUILD_TIME,
    )
    if done.returncode:
        said = f"{done.stdout}\n{done.stderr}".strip()[-2000:]
        raise cache.InstallFailed(f"{' '.join(command)}: failed.\n{said}")


@contextmanager
def _served_by_fx(folder: Path) -> Iterator[str]:
    port = free_port()
    command = [*_fx(), "serve", "--port", str(port)]
    with serving(command, folder, port) as server:
        yield server.url


class _Handler(SimpleHTTPRequestHandler):
    """Files, and pages under names without an ending."""

    def translate_path(self, path: str) -> str:
        found = Path(super().translate_path(path))
        page = found.with_name(f"{found.name}.html")
        return str(page if not found.is_file() and page.is_file() else found)

    def log_message(self, format: str, *args: Any) -> None:
        """Print nothing."""


@contextmanager
def _served_as_files(folder: Path) -> Iterator[str]:
    handler = partial(_Handler, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()
