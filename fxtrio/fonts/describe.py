"""The program that the bundler asks for a font: its path comes in, a line of JSON goes out.

    python -m fxtrio.fonts.describe ROOT FILE

It prints `{font}`, or `{problem: {message, remedy}}`.
"""

from __future__ import annotations

import json
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import attrs

from fxtrio.errors import asset_extra_missing


def describe(root: Path, file: Path) -> dict[str, Any]:
    """Describe the font in ``file``, of the project in ``root``."""
    if find_spec("fontTools") is None:
        return {"problem": asset_extra_missing("fonts").problem}
    from fxtrio.fonts.metrics import FontInvalid, read_font

    real = file.resolve()
    try:
        if not real.is_relative_to(root.resolve()):
            raise FontInvalid("it is outside of the project", "Copy it into the project")
        return {"font": attrs.asdict(read_font(real.read_bytes()))}
    except FontInvalid as error:
        return {"problem": error.problem}
    except OSError as error:
        message = f"it cannot be read ({error.strerror})"
        return {"problem": {"message": message, "remedy": "Check its permissions"}}


if __name__ == "__main__":
    print(json.dumps(describe(*map(Path, sys.argv[1:]))))
