"""What Node has said of the views of an app, kept on the disk.

It says the same of the same, so that the process that serves need not wait for it to begin.
"""

from __future__ import annotations

import hashlib
from contextlib import suppress
from pathlib import Path
from typing import Any

import attrs
import msgspec

from fxtrio.atomic_write import write_whole
from fxtrio.compile.bundling.bundle import BundleResult, read_result

_FILE = "answer.json"


@attrs.frozen
class _Kept:
    plan: str
    """A digest of what it was asked."""

    answer: dict[str, Any]


def find_answer(folder: Path, plan: Any) -> BundleResult | None:
    """Return what Node has last said of ``plan`` in the build ``folder``.

    None when it was asked of something else. It may answer in another way now.
    """
    try:
        kept = msgspec.json.decode((folder / _FILE).read_bytes(), type=_Kept)
    except (OSError, msgspec.MsgspecError):  # there is none, or of another version
        return None
    return read_result(kept.answer) if kept.plan == _digest(plan) else None


def keep_answer(folder: Path, plan: Any, answer: dict[str, Any]) -> BundleResult:
    """Keep what Node has said of ``plan``, for the next `fx dev`; return it."""
    with suppress(OSError):  # of a full disk: it starts all the same
        write_whole(folder / _FILE, msgspec.json.encode(_Kept(_digest(plan), answer)))
    return read_result(answer)


def _digest(plan: Any) -> str:
    return hashlib.sha256(msgspec.json.encode(plan)).hexdigest()
