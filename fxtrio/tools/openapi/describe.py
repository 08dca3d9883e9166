"""The OpenAPI document of a project, which a process of its own imports for it.

Called by commands, builds and tests.
"""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import msgspec
import trio

from fxtrio.atomic_write import write_whole
from fxtrio.config import Config
from fxtrio.errors import FxtrioError
from fxtrio.serve.openapi.answer import FILE_NAME
from fxtrio.tools.openapi.document import Description
from fxtrio.tools.project_process.process import LIMIT, run_in_process

_TASK = "fxtrio.tools.openapi.describing_child"


class NotDescribed(FxtrioError):
    """A project has no OpenAPI document: its code cannot be imported, or has mistakes."""


async def describe(root: Path, config: Config) -> Description:
    """Return the OpenAPI document of the project in ``root``, with its settings.

    Cancelling it kills the process that imports the project. Raises NotDescribed.
    """
    order = pickle.dumps((root, config))
    outcome = await run_in_process(root, _TASK, order, limit=LIMIT)
    try:
        answer = json.loads(outcome.answer)
    except ValueError:
        raise NotDescribed(
            f"openapi: importing the project {outcome.ending()}. Run 'fx check', which says "
            f"why.\n{outcome.printed}"
        ) from None
    if "message" in answer:
        raise NotDescribed(answer["message"])
    return msgspec.convert(answer, Description)


async def describe_into(root: Path, config: Config, folder: Path) -> None:
    """Write what an app serves as `/openapi.json` into its build folder. Raises NotDescribed."""
    text = msgspec.json.encode(await describe(root, config))
    await trio.to_thread.run_sync(write_whole, folder / FILE_NAME, text)


def written(document: dict[str, object]) -> str:
    """Return a document as text: equal documents are equal texts."""
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"
