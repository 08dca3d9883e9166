"""Runs the child that imports a project for its types. Called by commands."""

from __future__ import annotations

import os
import pickle
import secrets
import sys
from pathlib import Path

import attrs
import msgspec
import trio

from fxtrio.compile.project import CheckedProject
from fxtrio.errors import FxtrioError
from fxtrio.types.gatherer_child import TypesOrder
from fxtrio.types.page_types import ProjectTypes, load_types

_LIMIT = 120.0
_TAIL = 4000  # characters


class TypesUnknown(FxtrioError):
    """The process that imports a project for its types ended without an answer."""

    def __init__(self, code: int | None, output: str) -> None:
        how = f"took longer than {_LIMIT:g} s" if code is None else f"ended with {code}"
        super().__init__(
            f"types: importing the project {how}. 'fx check' says what keeps it from being "
            f"imported.\n{output}"
        )
        self.code = code
        self.output = output


async def project_types(root: Path, project: CheckedProject) -> ProjectTypes:
    """Return the types of the project in ``root``, imported in a process of its own.

    Cancelling it kills the process. Raises TypesUnknown.
    """
    # Exceptions need not survive the way, and nobody asks for them there.
    plain = attrs.evolve(project, tree=attrs.evolve(project.tree, problems=()), problems=())
    environment = {
        "FX_SECRET_KEY": secrets.token_urlsafe(32),  # unless there is one
        **os.environ,
        "FX_MODE": "check",
    }
    code: int | None = None
    output = errors = b""
    with trio.move_on_after(_LIMIT):
        done = await trio.run_process(
            [sys.executable, "-m", "fxtrio.types.gatherer_child"],
            stdin=pickle.dumps(TypesOrder(root, plain)),
            capture_stdout=True,
            capture_stderr=True,
            check=False,
            cwd=root,
            env=environment,
            deliver_cancel=_kill,
        )
        code, output, errors = done.returncode, done.stdout, done.stderr
    try:
        return load_types(output)
    except msgspec.DecodeError as error:
        raise TypesUnknown(code, errors.decode("utf-8", "replace")[-_TAIL:]) from error


async def _kill(process: trio.Process) -> None:
    """End the child at once: it holds nothing that it must put in order."""
    process.kill()
