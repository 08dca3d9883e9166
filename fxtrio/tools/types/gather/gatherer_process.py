"""Runs the child that imports a project for its types. Called by commands."""

from __future__ import annotations

import pickle
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import attrs
import msgspec
import trio

from fxtrio.compile.project import CheckedProject
from fxtrio.errors import FxtrioError
from fxtrio.tools.types.gather.gatherer_child import TypesOrder
from fxtrio.tools.types.gather.gatherer_start import open_gatherer
from fxtrio.tools.types.gather.page_types import ProjectTypes, load_types

LIMIT = 120.0
"""How long a project may take to be imported (seconds)."""

_TAIL = 4000  # characters


class TypesUnknown(FxtrioError):
    """The process that imports a project for its types ended without an answer."""

    def __init__(self, code: int | None, output: str) -> None:
        how = f"took longer than {LIMIT:g} s" if code is None else f"ended with {code}"
        super().__init__(
            f"types: importing the project {how}. 'fx check' says what keeps it from being "
            f"imported.\n{output}"
        )
        self.code = code
        self.output = output


async def project_types(
    root: Path, project: CheckedProject, process: subprocess.Popen[bytes] | None = None
) -> ProjectTypes:
    """Return the types of the project in ``root``, imported in a process of its own.

    That is ``process``, if there is one by now. Cancelling it kills the process. Raises
    TypesUnknown.
    """
    order = pickle.dumps(plain_order(root, project))
    if process is None:
        with open_gatherer(root) as process:
            return await _asked(process, order)
    return await _asked(process, order)


def plain_order(root: Path, project: CheckedProject) -> TypesOrder:
    """Return what is asked of another process.

    Exceptions need not survive the way, and nobody asks for them there.
    """
    tree = attrs.evolve(project.tree, problems=())
    return TypesOrder(root, attrs.evolve(project, tree=tree, problems=()))


async def _asked(process: subprocess.Popen[bytes], order: bytes) -> ProjectTypes:
    output = errors = b""
    code: int | None = None
    with trio.move_on_after(LIMIT), killed_at_the_end(process):
        ask = partial(process.communicate, order)
        # Its end lets go of the thread, too.
        output, errors = await trio.to_thread.run_sync(ask, abandon_on_cancel=True)
        code = process.returncode
    try:
        return load_types(output)
    except msgspec.DecodeError as error:
        raise TypesUnknown(code, errors.decode("utf-8", "replace")[-_TAIL:]) from error


@contextmanager
def killed_at_the_end(process: subprocess.Popen[bytes]) -> Iterator[None]:
    """Kill a process when the block ends, however that may be."""
    try:
        yield
    finally:
        process.kill()
