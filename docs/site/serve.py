"""Serves the documentation site, and beside it the examples that it links: `nox -s site`.

Examples run in copies below `.nox`, so nothing of theirs is left in the repository.
"""

from __future__ import annotations

import os
import secrets
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from build import EXPORTED, ROOT, SITE

HOST = "127.0.0.1"
PORT = 8000
"""Of the site. The examples have the ports behind it, in the order of their names."""

COPIES = ROOT / ".nox" / "site-examples"
FX = (sys.executable, "-m", "fxtrio")


def main() -> None:
    """Serve until Ctrl-C."""
    names = sorted(folder.parent.name for folder in ROOT.glob("examples/*/fx.config.json"))
    ports = {name: PORT + number for number, name in enumerate(names, start=1)}
    shutil.rmtree(COPIES, ignore_errors=True)
    with ExitStack() as running:
        for name, port in ports.items():
            running.enter_context(_served(name, port))
        urls = [f"{name}=http://{HOST}:{port}" for name, port in ports.items()]
        build = (sys.executable, str(SITE / "build.py"), "--examples", *urls)
        subprocess.run(build, check=True)
        files = ("-m", "http.server", str(PORT), "-b", HOST, "-d", str(EXPORTED))
        try:
            subprocess.run((sys.executable, *files), check=True)
        except KeyboardInterrupt:
            print("Stopped.")


@contextmanager
def _served(name: str, port: int) -> Iterator[None]:
    """Build a copy of an example, and serve it for as long as the block lasts."""
    folder = COPIES / name
    left_out = shutil.ignore_patterns(".fx", "node_modules", "*.sqlite3*", "__pycache__")
    shutil.copytree(ROOT / "examples" / name, folder, ignore=left_out)
    root = ("--root", str(folder))
    subprocess.run((*FX, "build", *root), check=True)
    if (folder / "migrations").is_dir():
        subprocess.run((*FX, "db", "up", *root), check=True)
    environ = {**os.environ, "FX_SECRET_KEY": secrets.token_urlsafe(32)}
    options = ("--host", HOST, "--port", str(port))
    server = subprocess.Popen((*FX, "serve", *root, *options), env=environ)
    try:
        yield
    finally:
        server.terminate()
        server.wait()


if __name__ == "__main__":
    main()
