"""The process that the bundler asks for pictures: lines of JSON in, lines of JSON out.

    python -m fxtrio.pictures.process ROOT

`{id, file, most, make}` asks for the picture in a file, `most` CSS pixels wide at most (or null),
and for files of it: `make` has their names, or is "all". The answer has the `id` with either
`{picture, folder}` or `{problem: {message, remedy}}`. The process ends when its input does, in
the middle of whatever it does: each file of the cache is there as a whole or not at all.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import traceback
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from importlib import invalidate_caches
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

import attrs

from fxtrio.errors import asset_extra_missing

if TYPE_CHECKING:
    from fxtrio.pictures.store import PictureStore

_MOST_THREADS = 4
"""Each holds a decoded picture, so this also bounds the memory."""


def main() -> None:
    """Answer until the input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # of a terminal: whoever started this ends it
    opened = _opener(Path(sys.argv[1]).resolve())
    threads = min(_MOST_THREADS, os.cpu_count() or 1)
    with ThreadPoolExecutor(threads) as pool:
        for line in sys.stdin.buffer:
            pool.submit(_respond, opened, json.loads(line))
        os._exit(0)


def _opener(root: Path) -> Callable[[], PictureStore | None]:
    """Return what opens the store, or has opened it; the extra may be installed meanwhile."""
    store: PictureStore | None = None
    lock = Lock()

    def opened() -> PictureStore | None:
        nonlocal store
        with lock:
            store = store or _open_store(root)
        return store

    return opened


def _open_store(root: Path) -> PictureStore | None:
    """Return the store; None without the extra."""
    invalidate_caches()
    if find_spec("PIL") is None:
        return None
    from PIL import Image

    from fxtrio.build_folder import LinkInTheWay
    from fxtrio.pictures.store import PictureStore

    Image.MAX_IMAGE_PIXELS = None  # the store has a limit of its own, and a message for it
    store = PictureStore(root)
    with suppress(LinkInTheWay, OSError):  # which each answer reports
        store.forget_unused()
    return store


def _respond(opened: Callable[[], PictureStore | None], request: dict[str, Any]) -> None:
    try:
        answer = {"id": request["id"], **answer_to(opened(), request)}
        os.write(1, json.dumps(answer).encode() + b"\n")  # one write: lines of threads do not mix
    except BaseException:  # a defect, which nobody sees in a pool: the bundler would wait for ever
        traceback.print_exc()
        os._exit(1)


def answer_to(store: PictureStore | None, request: dict[str, Any]) -> dict[str, Any]:
    """Return the answer to one order, without its id."""
    if store is None:
        return {"problem": asset_extra_missing("pictures").problem}
    from fxtrio.build_folder import LinkInTheWay
    from fxtrio.pictures.pixels import PictureInvalid

    file = Path(request["file"])
    try:
        picture = store.find(file, request["most"], request["make"])
        folder = str(store.folder_of(picture))
    except PictureInvalid as error:
        return {"problem": error.problem}
    except LinkInTheWay as error:
        return {"problem": {"message": str(error).rstrip("."), "remedy": ""}}
    except OSError as error:
        message = f"no picture can be written into .fx/pictures ({error.strerror})"
        return {
            "problem": {"message": message, "remedy": "Free disk space, or correct its permissions"}
        }
    return {"picture": attrs.asdict(picture), "folder": folder}


if __name__ == "__main__":
    main()
