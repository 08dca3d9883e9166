"""Where things are that all projects of a user share, such as the toolchain."""

from __future__ import annotations

import os
from pathlib import Path


def cache_folder() -> Path:
    """Return the folder of fxtrio among the caches of the user."""
    configured = Path(os.environ.get("XDG_CACHE_HOME", ""))
    cache = configured if configured.is_absolute() else Path.home() / ".cache"
    return cache / "fxtrio"
