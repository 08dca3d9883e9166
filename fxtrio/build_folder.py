"""Files written into a project's `.fx` stay there: no link of a repository leads them elsewhere.

Called by whatever writes there. The settings may name other places, such as that of a database;
those are nothing of ours.
"""

from __future__ import annotations

from pathlib import Path, PurePath

from fxtrio.errors import PlacedError, display_path

UNUSABLE = (OSError, ValueError, RecursionError)
"""What reading and decoding such a file raises when it is missing, damaged, or another user's.

A few thousand brackets are enough for the last. Whoever reads what can be made again catches it.
"""


class LinkInTheWay(PlacedError):
    """Something below `.fx` is a symbolic link, so that files would be written elsewhere."""

    remedy = "Remove the link; its files are created again"

    def __init__(self, link: Path) -> None:
        cause = "is a symbolic link, and files are written into what it names"
        super().__init__(display_path(link), cause)


def require_no_link(root: Path, path: PurePath | str) -> Path:
    """Return ``root / path``, where no part of ``path`` is a link. Raises LinkInTheWay.

    ``root`` itself may be reached by links: who names a project knows where it is.
    """
    place = root
    for part in PurePath(path).parts:
        place = place / part
        if place.is_symlink():
            raise LinkInTheWay(place)
    return place
