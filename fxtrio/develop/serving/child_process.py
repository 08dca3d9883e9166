"""What the process that serves begins with: ``python -m fxtrio.develop.serving.child_process``."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable


def import_server() -> Callable[[], int]:
    """Import what serves, and return it: a function that returns the exit code.

    No garbage is collected meanwhile, and no collection looks at the modules later: what
    imports make stays.
    """
    gc.disable()
    try:
        # Heavy: some tenths of a second.
        from fxtrio.develop.serving.child import serve
    finally:
        gc.enable()
    gc.freeze()
    return serve


if __name__ == "__main__":
    sys.exit(import_server()())
