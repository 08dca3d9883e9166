"""The OpenAPI document of a project, which a process of its own imports for it.

Called by commands, builds and tests.
"""

from __future__ import annotations

import json
import os
import pickle
import secrets
import signal
import sys
from pathlib import Path

import msgspec
import trio

from fxtrio.config import Config
from fxtrio.errors import FxtrioError
from fxtrio.serve.openapi.answer import FILE_NAME
from fxtrio.tools.openapi.document import Description

LIMIT = 120
"""How long the import may take, by the clock of the machine (seconds)."""

_TAIL = 4000  # characters


class NotDescribed(FxtrioError):
    """A project has no OpenAPI document: its code cannot be imported, or has mistakes."""

    def __init__(self, cause: str) -> None:
        super().__init__(cause)
        self.cause = cause


async def describe(root: Path, config: Config) -> Description:
    """Return the OpenAPI document of the project in ``root``, with its settings.

    Cancelling it kills the process that imports the project. Raises NotDescribed.
    """
    environment = {
        "FX_SECRET_KEY": secrets.token_urlsafe(32),  # unless there is one
        **os.environ,
        "FX_MODE": "check",
    }
    code: int | None = None
    output = errors = b""
    with trio.move_on_after(LIMIT + 5):  # in tests by another clock, so the child has its own
        done = await trio.run_process(
            [sys.executable, "-P", "-m", "fxtrio.tools.openapi.describing_child"],
            stdin=pickle.dumps((root, config, LIMIT)),
            capture_stdout=True,
            capture_stderr=True,
            check=False,
            cwd=root,
            env=environment,
            deliver_cancel=_kill,
        )
        code, output, errors = done.returncode, done.stdout, done.stderr
    try:
        answer = json.loads(output)
    except ValueError:
        late = code in (None, -signal.SIGALRM)
        how = f"took longer than {LIMIT} s" if late else f"ended with {code}"
        shown = errors.decode("utf-8", "replace")[-_TAIL:]
        raise NotDescribed(
            f"openapi: importing the project {how}. Run 'fx check', which says why.\n{shown}"
        ) from None
    if "message" in answer:
        raise NotDescribed(answer["message"])
    return msgspec.convert(answer, Description)


async def describe_into(root: Path, config: Config, folder: Path) -> None:
    """Write what an app serves as `/openapi.json` into its build folder. Raises NotDescribed."""
    text = msgspec.json.encode(await describe(root, config))
    staged = folder / f"{FILE_NAME}~"
    await trio.to_thread.run_sync(staged.write_bytes, text)
    await trio.to_thread.run_sync(staged.replace, folder / FILE_NAME)


def written(document: dict[str, object]) -> str:
    """Return a document as text: equal documents are equal texts."""
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


async def _kill(process: trio.Process) -> None:
    """End the child at once: it holds nothing that it must put in order."""
    process.kill()
