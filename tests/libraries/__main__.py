"""Use the libraries of the documentation's tables in one project, in a build and in `fx dev`.

    python -m tests.libraries [NAME …] [--mode build] [--folder FOLDER]

Each page is rendered, comes to life within React's StrictMode, is pressed, is left by a navigation,
come back to, pressed again and left again, under a policy that is enforced; nothing may be left of
it in the body, and the console must be silent. Prints a line for each, and exits with 1 when one
is otherwise than the table says. Packages of Python must be installed; those of npm are, here.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from tests.libraries.catalogue import npm_libraries, python_libraries
from tests.libraries.run import MODES, make_project, run


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.libraries")
    parser.add_argument("names", nargs="*", metavar="NAME", help="libraries; all without one")
    parser.add_argument("--mode", choices=MODES, help="both without it")
    parser.add_argument("--folder", type=Path, help="where to make the project, and leave it")
    chosen = parser.parse_args()
    npm, python = (
        [one for one in libraries if not chosen.names or one.name in chosen.names]
        for libraries in (npm_libraries(), python_libraries())
    )
    with tempfile.TemporaryDirectory(prefix="fx-libraries-") as temporary:
        folder = chosen.folder or Path(temporary) / "site"
        make_project(folder, npm_libraries(), python)
        modes = MODES if chosen.mode is None else (chosen.mode,)
        found = [run(folder, mode, npm, python) for mode in modes]
    failed = sum(found)
    print(f"{failed} failed" if failed else "all are as the tables say")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
