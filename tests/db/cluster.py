"""A PostgreSQL of the tests' own: in a temporary folder, without a port, ended by its pid."""

from __future__ import annotations

import atexit
import itertools
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

import attrs
import psutil
import psycopg

LIMIT = 60.0

EMPTY = """
do $$
declare
    schema name;
begin
    if exists (
        select from pg_stat_activity
        where datname = current_database() and backend_type = 'client backend'
        and pid <> pg_backend_pid()
    ) then
        raise object_in_use;
    end if;
    for schema in
        select nspname from pg_namespace
        where nspname !~ '^pg_' and nspname <> 'information_schema'
    loop
        execute format('drop schema %I cascade', schema);
    end loop;
    create schema public authorization pg_database_owner;
    grant usage on schema public to public;
end
$$
"""
"""What leaves a database as empty as a new one is."""


def programs() -> Path:
    """Return the folder of the server's programs: Debian keeps them out of the PATH."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    on_path = shutil.which("initdb")
    return (found[-1] if found else Path(on_path or "initdb")).parent


@attrs.define
class Cluster:
    """A running server. `restart` and `kill` are for tests of what happens then."""

    folder: Path
    _identity: dict[str, Any]
    _settings: tuple[str, ...] = ("fsync=off",)
    _numbers: Iterator[int] = attrs.field(factory=itertools.count)
    _empty: list[str] = attrs.field(factory=list)
    """Databases that can be had again."""
    _process: subprocess.Popen[bytes] | None = None

    @property
    def identity(self) -> dict[str, Any]:
        """As whom its programs run, for `subprocess`: never as root."""
        return self._identity

    def hand_over(self, path: Path) -> None:
        """Give a folder and its files to whom the programs run as."""
        if self._identity:
            for each in (path, *path.iterdir()):
                os.chown(each, self._identity["user"], self._identity["group"])

    @property
    def pid(self) -> int:
        """The number of its first process."""
        assert self._process is not None
        return self._process.pid

    def start(self) -> None:
        """Start it and wait until it answers."""
        options = ["listen_addresses=", f"unix_socket_directories={self.folder}"]
        options += self._settings
        words = [word for option in options for word in ("-c", option)]
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [programs() / "postgres", "-D", self.folder / "data", *words],
                stdout=log,
                stderr=log,
                **self._identity,
            )
        deadline = time.monotonic() + LIMIT
        while not self._answers():
            assert time.monotonic() < deadline, (self.folder / "log").read_text()
            assert self._process.poll() is None, (self.folder / "log").read_text()
            time.sleep(0.02)

    def stop(self, number: int = signal.SIGINT) -> None:
        """End it: SIGINT is a fast shutdown, SIGQUIT one without any farewell."""
        if self._process is not None:
            self._process.send_signal(number)
            self._process.wait(LIMIT)
            self._process = None

    def crash(self) -> None:
        """End all its processes at once, with kill -9."""
        assert self._process is not None
        first = psutil.Process(self._process.pid)
        family = [first, *first.children(recursive=True)]
        for process in family:
            with suppress(psutil.NoSuchProcess):
                process.kill()
        self._process.wait(LIMIT)
        self._process = None
        psutil.wait_procs(family, LIMIT)

    def new_database(self) -> str:
        """Return the URL of an empty database."""
        if self._empty:
            name = self._empty.pop()
        else:
            name = f"t{next(self._numbers)}"
            self._execute(f"create database {name} strategy file_copy")
        return f"postgresql://fx@/{name}?host={self.folder}"

    def drop(self, url: str) -> None:
        """Drop what is in a database, which `new_database` returns again, or the database.

        One that somebody is still connected to is dropped itself. To empty one takes a quarter
        of the work of a new one, and most tests leave few tables.
        """
        name = url.partition("@/")[2].partition("?")[0]
        try:
            self._execute(EMPTY, name)
        except psycopg.errors.ObjectInUse:
            self._execute(f"drop database {name} with (force)")
        else:
            self._empty.append(name)

    def _answers(self) -> bool:
        try:
            self._execute("select 1")
        except psycopg.OperationalError:
            return False
        return True

    def _execute(self, sql: str, database: str = "postgres") -> None:
        """Execute statements from here: a program to do so takes longer to start than they do."""
        place = f"host={self.folder} user=fx dbname={database} connect_timeout={LIMIT:.0f}"
        with psycopg.connect(place, autocommit=True) as connection:
            connection.execute(sql.encode())


@contextmanager
def running_cluster(*settings: str, fsync: bool = False) -> Iterator[Cluster]:
    """Run a server for the length of the block; with ``fsync`` it waits for its disk."""
    wanted = settings if fsync else (*settings, "fsync=off")
    with _server_folder() as folder:
        cluster = Cluster(folder, _identity(), settings=wanted)
        # It takes a tenth of the time of a new one.
        subprocess.run(["cp", "-a", empty_data(), folder / "data"], check=True, timeout=LIMIT)
        try:
            cluster.start()
            yield cluster
        finally:
            cluster.stop(signal.SIGQUIT)  # its files go, so that it need not write any


@cache
def empty_data() -> Path:
    """Return the data of a cluster that has never run.

    It is for the life of this process, and for those that it forks afterwards.
    """
    stack, maker = ExitStack(), os.getpid()
    atexit.register(lambda: stack.close() if os.getpid() == maker else None)
    folder = stack.enter_context(_server_folder())
    options = ("-U", "fx", "-A", "trust", "--no-sync", "-E", "UTF8", "--locale=C.UTF-8")
    subprocess.run(
        [programs() / "initdb", "-D", folder / "data", *options],
        check=True,
        capture_output=True,
        timeout=LIMIT,
        cwd=folder,
        **_identity(),
    )
    return folder / "data"


@contextmanager
def _server_folder() -> Iterator[Path]:
    """Make a folder of whom the programs run as, for the length of the block."""
    folder = Path(tempfile.mkdtemp(prefix="fx-pg-"))
    identity = _identity()
    if identity:
        os.chown(folder, identity["user"], identity["group"])
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _identity() -> dict[str, Any]:
    """Return as whom the programs run, for `subprocess`: never as root, which they refuse."""
    if os.geteuid() != 0:
        return {}
    entry = pwd.getpwnam("postgres")
    return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}
