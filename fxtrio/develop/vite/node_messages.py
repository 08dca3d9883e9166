"""Messages to Node about a change: which UI halves and files have changed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import attrs

from fxtrio.compile.checked_page import CheckedPage
from fxtrio.develop.reload.classify_changes import Sorted
from fxtrio.develop.report.overlay_errors import OverlayProblem


@attrs.frozen
class UpdateResult:
    """What Node says to a change."""

    wrong: list[OverlayProblem] = attrs.field(factory=list)
    """What it cannot parse."""

    used: bool = False
    """Whether it concerns an open page."""

    outlines: Mapping[str, str | None] = attrs.field(factory=dict)
    """What checks see of what has changed: UI halves by source, modules by absolute path.

    None when it is not known."""


def change_order(
    root: Path,
    found: Sorted,
    changed: Mapping[str, CheckedPage],
    known: Mapping[str, CheckedPage],
    deleted: Iterable[str],
    data: Any,
    problems: Mapping[str, list[OverlayProblem]],
    ui_texts: Mapping[str, str],
) -> dict[str, Any] | None:
    """Return the fields of the order ``change``; None when nothing concerns Node.

    ``changed`` are page files by source, as they are now, ``known`` as they were before. Files
    whose names are not UTF-8 are left out: no message can name them, and no build has them.
    ``problems`` is what is wrong now, by who has found it, where that is other than before.
    ``ui_texts`` are UI halves, by source, that are not on the disk yet.
    """
    ui: list[dict[str, str | None]] = [
        {
            "type": "change" if source in known else "add",
            "file": source,
            "text": ui_texts.get(source),
        }
        for source, page in changed.items()
        if source not in known or page.ui != known[source].ui
    ]
    ui += [{"type": "unlink", "file": source} for source in deleted]
    files = [
        {"type": "change" if path.exists() else "unlink", "file": str(path)}
        for path in (root / file for file in found.files if _is_text(file))
    ]
    of_code = (*found.structure, *found.pages, *found.modules)
    texts = [str(root / file) for file in of_code if _is_text(file)]
    if not (ui or files or data or texts or found.public or problems):
        return None
    return {
        "ui": ui,
        "files": files,
        "texts": texts,
        "data": data,
        "problems": problems,
        "reload": bool(found.public),
    }


def _is_text(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True
