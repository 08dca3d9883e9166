"""Code that `fx dev` could not swap yet, and restarts that were prevented."""

from __future__ import annotations

from pathlib import Path

import attrs
import pytest
from trio.testing import memory_stream_one_way_pair

from fxtrio.develop.build.pending_code import PendingCode
from fxtrio.develop.processes.import_attempt import _MOST_WRITTEN, _read, is_held
from fxtrio.develop.processes.messages import Swap, Swapped


@attrs.define
class Serving:
    """What serves: it cannot be restarted, nor take the modules in ``broken``."""

    prevented: str = "fx.config.json:1:2: timeouts must be an object"
    broken: set[str] = attrs.field(factory=set)
    orders: list[Swap] = attrs.field(factory=list)

    async def swap(self, order: Swap) -> Swapped:
        self.orders.append(order)
        if order.restart:
            failed = self.prevented
            return Swapped(failed=failed, error=failed) if failed else Swapped(restart="due")
        wrong = self.broken.intersection(order.files)
        return Swapped(failed="NameError: n", error="NameError: n") if wrong else Swapped(modules=1)


async def test_code_is_swapped_while_a_restart_is_prevented(tmp_path: Path) -> None:
    serving, code = Serving(), PendingCode(tmp_path)

    swapped, problems = await code.swap(serving.swap, files=["a.py"], restart="settings")
    assert swapped == Swapped(modules=1)
    assert [one["message"] for one in problems] == [serving.prevented]

    swapped, problems = await code.swap(serving.swap, files=["b.py"])
    assert swapped == Swapped(modules=1)
    assert [one["message"] for one in problems] == [serving.prevented]  # still so
    assert not problems[0]["swap"]  # or browsers would forget it, as code has been swapped
    assert [order.restart or order.files for order in serving.orders] == [
        "settings",
        (str(tmp_path / "a.py"),),
        "settings",
        (str(tmp_path / "b.py"),),
    ]


async def test_what_needs_no_code_does_not_wait_for_a_prevented_restart(tmp_path: Path) -> None:
    serving, code = Serving(), PendingCode(tmp_path)

    _, problems = await code.swap(serving.swap, restart="settings")

    assert len(problems) == 1
    assert not code  # so a save of a stylesheet asks for no swap


async def test_a_mistake_that_prevents_a_restart_and_a_swap_is_one_problem(tmp_path: Path) -> None:
    serving, code = Serving(prevented="NameError: n"), PendingCode(tmp_path)
    serving.broken = {str(tmp_path / "a.py")}
    _, problems = await code.swap(serving.swap, files=["a.py"], restart="settings")
    assert [one["message"] for one in problems] == ["NameError: n"]


async def test_pages_that_come_or_go_are_swapped_without_any_file(tmp_path: Path) -> None:
    serving, code = Serving(), PendingCode(tmp_path)
    assert await code.swap(serving.swap) == (Swapped(modules=1), [])
    assert serving.orders == [Swap()]


async def test_a_prevented_restart_follows_the_change_that_allows_it(tmp_path: Path) -> None:
    serving, code = Serving(), PendingCode(tmp_path)
    serving.broken = {str(tmp_path / "a.py")}
    swapped, problems = await code.swap(serving.swap, files=["a.py"], restart="settings")
    assert swapped.failed == "NameError: n"
    assert [one["message"] for one in problems] == [serving.prevented, "NameError: n"]
    assert code

    serving.prevented = ""
    assert await code.swap(serving.swap, files=["a.py"]) == (Swapped(restart="due"), [])
    assert not code
    assert not code.restart


async def test_a_restart_that_succeeds_after_all_leaves_no_problem(tmp_path: Path) -> None:
    outcomes = [Swapped(failed="NameError: n", error="NameError: n"), Swapped(restart="a job")]

    async def swap(order: Swap) -> Swapped:
        return outcomes.pop(0)

    found = await PendingCode(tmp_path).swap(swap, files=["a.py"], restart="settings")
    assert found == (Swapped(restart="a job"), [])


FRAME = """\
Traceback (most recent call last):
  File "app.py", line 1, in <module>
    note: int = f()
"""

GROUP = f"""\
  + Exception Group Traceback (most recent call last):
  |   File "app.py", line 1, in <module>
  |     trio.run(main)
  | ExceptionGroup: Exceptions from Trio nursery (1 sub-exception)
  +-+---------------- 1 ----------------
    | {FRAME.replace(chr(10), chr(10) + "    | ")}{{}}
    +------------------------------------
"""
"""What Python writes of a group with one error."""


@pytest.mark.parametrize(
    ("failed", "held"),
    [
        ("OSError: [Errno 98] Address already in use", True),
        ("BlockingIOError: [Errno 11] Resource temporarily unavailable", True),
        ('_duckdb.IOException: IO Error: Could not set lock on file "a.duckdb": Conflict', True),
        (
            "plyvel._plyvel.IOError: b'IO error: lock a/LOCK: Resource temporarily unavailable'",
            True,
        ),
        ("sqlite3.OperationalError: database is locked", True),
        ("sqlalchemy.exc.OperationalError: (sqlite3.OperationalError) database is locked", True),
        ('psycopg.errors.LockNotAvailable: could not obtain lock on relation "a"', True),
        ("leveldb.LevelDBError: IO error: lock a/LOCK: already held by process", True),
        ("redis.exceptions.LockError: Unable to acquire lock within the time specified", True),
        ("zc.lockfile.LockError: Couldn't lock 'a.lock'", True),
        ("RuntimeError: Storage folder a is already accessed by another instance of a", True),
        ("could not acquire the lock", True),  # of `sys.exit`
        ("filelock.Timeout: The file lock 'a.lock' could not be acquired.", True),
        ("zmq.error.ZMQError: Address already in use (addr='tcp://127.0.0.1:5555')", True),
        ("RuntimeError: cannot bind: Address already in use (os error 98)", True),
        (GROUP.format("OSError: [Errno 98] Address already in use"), True),
        (GROUP.format("NameError: name 'x' is not defined"), False),
        (f"{FRAME}OSError: [Errno 98] Address already in use\nhint: end the other", True),
        (f"{FRAME}NameError: name 'x' is not defined\nnote: database is locked", False),
        ("NameError: name 'lock' is not defined", False),
        ("ModuleNotFoundError: No module named 'lock'", False),
        ("KeyError: 'lock'", False),
        ("ValueError: unknown option 'lock'", False),
        ("ValueError: database is locked", False),
        ("FileNotFoundError: [Errno 2] No such file or directory: '/srv/uv.lock'", False),
        ("PermissionError: [Errno 13] Permission denied: 'x.lock'", False),
        ("OSError: [Errno 5] Input/output error: 'database is locked'", False),
        ("RuntimeError: no running lock", False),
        ("AssertionError: door is locked", False),
        ("AssertionError: [Errno 98] Address already in use", False),
        ("app.doors.DoorError: door is locked", False),
        ("Traceback …\nOSError: [Errno 98] …\nNameError: name 'x' is not defined", False),
        ("FileNotFoundError: [Errno 2] No such file or directory: 'x'", False),
    ],
)
def test_a_port_that_the_serving_process_holds_prevents_no_restart(failed: str, held: bool) -> None:
    assert is_held(failed) is held


async def test_an_import_that_writes_without_end_takes_no_more_memory() -> None:
    sending, receiving = memory_stream_one_way_pair()
    await sending.send_all(b"x" * (2 * _MOST_WRITTEN) + b"the cause")
    await sending.aclose()
    written = bytearray()
    await _read(receiving, written)
    assert len(written) == _MOST_WRITTEN
    assert written.endswith(b"xthe cause")
