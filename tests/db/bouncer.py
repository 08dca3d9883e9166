"""A pgbouncer of the tests' own before a `Cluster`: without a port, ended by its pid."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.db.cluster import LIMIT, Cluster

PORT = 6432
"""Part of the name of its socket, and nothing else."""

SETTINGS = """
[databases]
* = host={cluster} user=fx
[pgbouncer]
listen_addr =
listen_port = {port}
unix_socket_dir = {folder}
auth_type = any
pool_mode = {mode}
default_pool_size = {size}
server_round_robin = {round_robin}
"""


@contextmanager
def running_bouncer(
    cluster: Cluster, mode: str, *, size: int = 2, round_robin: int = 0
) -> Iterator[Path]:
    """Run one for the length of the block; give the folder of its socket."""
    folder = Path(tempfile.mkdtemp(prefix="fx-bouncer-"))
    (folder / "ini").write_text(
        SETTINGS.format(
            cluster=cluster.folder,
            folder=folder,
            port=PORT,
            mode=mode,
            size=size,
            round_robin=round_robin,
        )
    )
    cluster.hand_over(folder)
    program = shutil.which("pgbouncer") or "/usr/sbin/pgbouncer"
    with (folder / "log").open("ab") as log:
        process = subprocess.Popen(
            [program, "-q", folder / "ini"], stdout=log, stderr=log, **cluster.identity
        )
    try:
        deadline = time.monotonic() + LIMIT
        while not (folder / f".s.PGSQL.{PORT}").exists():
            assert process.poll() is None, (folder / "log").read_text()
            assert time.monotonic() < deadline, (folder / "log").read_text()
            time.sleep(0.02)
        yield folder
    finally:
        process.terminate()
        process.wait(LIMIT)
        shutil.rmtree(folder, ignore_errors=True)


def through(folder: Path, url: str) -> str:
    """Return the URL of a cluster's database as it is reached through the pooler."""
    return f"{url.partition('?')[0]}?host={folder}&port={PORT}"
