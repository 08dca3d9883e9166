"""The last answer of Node about the views of an app, stored on the disk.

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
from fxtrio.build_folder import UNUSABLE
from fxtrio.compile.bundling.bundle import BundleResult, read_result
from fxtrio.develop.build.code_stamp import code_stamp

_FILE = "answer.json"


@attrs.frozen
class _Stored:
    digest: str
    """Of what Node was asked, of the code that asked it, and of the answer."""

    answer: msgspec.Raw
    """A `BundleResult`."""


def find_answer(folder: Path, plan: Any) -> BundleResult | None:
    """Return the last answer of Node about ``plan`` in the build ``folder``.

    None when it was asked of something else, or by another fxtrio. It may answer in another way
    now.
    """
    try:
        stored = msgspec.json.decode((folder / _FILE).read_bytes(), type=_Stored)
        if stored.digest != _digest(plan, stored.answer):
            return None
        found = msgspec.json.decode(stored.answer, type=BundleResult)
    except UNUSABLE:
        return None
    return found if len(found.clients) == len(plan["views"]) else None


def store_answer(folder: Path, plan: Any, answer: dict[str, Any]) -> BundleResult:
    """Store the answer of Node about ``plan`` for the next `fx dev`, and return it."""
    result = read_result(answer)
    data = msgspec.json.encode(result)
    with suppress(OSError):  # of a full disk: it starts all the same
        stored = _Stored(_digest(plan, data), msgspec.Raw(data))
        write_whole(folder / _FILE, msgspec.json.encode(stored), lasting=False)
    return result


def _digest(plan: Any, answer: bytes | msgspec.Raw) -> str:
    parts = (code_stamp().encode(), msgspec.json.encode(plan), answer)
    return hashlib.sha256(b"\n".join(map(bytes, parts))).hexdigest()
