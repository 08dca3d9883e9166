"""``python -m benchmarks.http.serve PORT APP [--access-log]``: our server, in one process."""

from __future__ import annotations

import sys

from fxtrio.server.supervise import ServeOptions, serve

if __name__ == "__main__":
    sys.exit(
        serve(
            ServeOptions(
                app=sys.argv[2],
                bind=(f"127.0.0.1:{sys.argv[1]}",),
                access_log="console" if "--access-log" in sys.argv else None,
            )
        )
    )
