"""Libraries that applications use, each cancelled in the middle of its work, many times.

    python -m benchmarks.libraries [--times 1000] [NAME ...]

Needs what it tries: ``pip install httpx2 openai anthropic aiosqlite``, PostgreSQL, and
``redis-server`` on the PATH; what is not there is named and left out. One client does all
calls of a library; in the end it must still work, and the process have as many tasks,
threads and open files as before.
"""

from __future__ import annotations

import argparse
from importlib.metadata import version

import trio

from benchmarks.libraries.cancelled import cancel
from benchmarks.libraries.known import LIBRARIES, missing


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(LIBRARIES))
    parser.add_argument("--times", type=int, default=1000)
    options = parser.parse_args()
    for name in options.names or LIBRARIES:
        if lacking := missing(name):
            print(f"{name:12}left out: {lacking} is not installed")
            continue
        before, after, took = trio.run(cancel, LIBRARIES[name], options.times)
        remains = "nothing is left" if before == after else f"LEFT: {before} -> {after}"
        title = f"{name} {version(name)}"
        print(f"{title:20}{options.times:>6} cancelled, {took * 1e3:6.2f} ms each: {remains}")


if __name__ == "__main__":
    main()
