"""`python -m fxtrio`: the `fx` command."""

import sys
from pathlib import Path

# Python has put the current folder in front: modules there are no part of the command.
if not sys.flags.safe_path and sys.path and sys.path[0] in ("", str(Path.cwd())):
    del sys.path[0]

from fxtrio.cli import main

if __name__ == "__main__":
    main()
