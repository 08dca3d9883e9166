"""What runs in the process that imports a project: ``python -m`` of this module, and a task.

The order is read from standard input, and the answer goes to standard output; what the project
prints goes to standard error. No plugin is opened, no lifespan runs, no port is bound.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import NoReturn

Write = Callable[[bytes], None]
Task = Callable[[bytes, Write], None]
"""Takes an order, and writes the answer: at once, or part after part."""


def load_task(name: str) -> Task:
    """Return the function ``answer`` of the module ``name``."""
    task: Task = import_module(name).answer
    return task


def run_task(task: Task, order: bytes, output: int) -> NoReturn:
    """Write the answer to the descriptor ``output``, and end the process."""
    os.dup2(2, 1)  # what the project prints is no answer
    task(order, partial(_write_all, output))
    os._exit(0)  # whatever threads the project has left behind


def _write_all(output: int, data: bytes) -> None:
    while data:
        data = data[os.write(output, data) :]


def main() -> None:
    """Run one task. No garbage is collected: the process ends with its answer."""
    gc.disable()
    task = load_task(sys.argv[1])
    run_task(task, sys.stdin.buffer.read(), os.dup(1))


if __name__ == "__main__":
    main()
