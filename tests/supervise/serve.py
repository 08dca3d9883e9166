"""What a test starts: ``python -m tests.supervise.serve OPTIONS`` with JSON."""

from __future__ import annotations

import sys

from fxtrio.server.supervise import ServeOptions, serve

if __name__ == "__main__":
    sys.exit(serve(ServeOptions.from_json(sys.argv[1])))
