"""The faults."""

from __future__ import annotations

import os
import signal

import psutil
import trio

from tests.faults.run import Fault
from tests.faults.world import Bank, Engine
from tests.supervise.support import lives


async def nothing(bank: Bank) -> None:
    await trio.sleep(2)


async def kill_one(bank: Bank) -> None:
    """Kill a server process three times."""
    for _ in range(3):
        bank.processes("server")[0].kill()
        await trio.sleep(1.5)


async def kill_all(bank: Bank) -> None:
    """Kill the supervisor and all below it, and start them again."""
    assert bank.server is not None
    family = psutil.Process(bank.server.process.pid).children(recursive=True)
    os.killpg(bank.server.process.pid, signal.SIGKILL)  # the session of this server
    await bank.server.exit_code()
    await trio.to_thread.run_sync(psutil.wait_procs, family, 10)
    await bank.start()


async def stop_one(bank: Bank) -> None:
    """Stop a server process for eight seconds: too long, so the supervisor may replace it."""
    stopped = bank.processes("server")[0]
    stopped.suspend()
    await trio.sleep(8)
    if lives(stopped):
        stopped.resume()


async def replace_all(bank: Bank) -> None:
    """Replace the processes one after the other, twice, as a deployment does."""
    for _ in range(2):
        assert bank.server is not None
        before = bank.processes("server")
        bank.server.kill(signal.SIGHUP)
        _, left = await trio.to_thread.run_sync(psutil.wait_procs, before, 60)
        assert not left, "nothing was replaced: under nohup SIGHUP is ignored"


async def kill_renderers(bank: Bank) -> None:
    for _ in range(3):
        for process in bank.processes("renderer"):
            process.kill()
        assert await bank.get("/") == 200
        await trio.sleep(0.5)


async def poison(bank: Bank) -> None:
    """Enqueue jobs that leave the interpreter in a task of their own."""
    for _ in range(3):
        assert await bank.get("/api/poison") == 200
    await trio.sleep(3)


async def overload(bank: Bank) -> None:
    """Hold every connection of the pools in transactions of a second."""
    async with trio.open_nursery() as nursery:
        for _ in range(60):
            nursery.start_soon(_slow, bank)


async def _slow(bank: Bank) -> None:
    for _ in range(4):
        try:
            await bank.get("/api/slow")
        except (OSError, trio.TooSlowError, AssertionError):
            continue


async def restart_database(bank: Bank) -> None:
    assert bank.cluster is not None
    for _ in range(2):
        await trio.to_thread.run_sync(bank.cluster.stop)
        await trio.to_thread.run_sync(bank.cluster.start)
        await trio.sleep(1)


async def crash_database(bank: Bank) -> None:
    assert bank.cluster is not None
    await trio.to_thread.run_sync(bank.cluster.crash)
    await trio.sleep(2)
    await trio.to_thread.run_sync(bank.cluster.start)
    await trio.sleep(1)


async def reset(bank: Bank) -> None:
    assert bank.proxy is not None
    for _ in range(5):
        bank.proxy.reset()
        await trio.sleep(0.7)


async def reset_connections(bank: Bank) -> None:
    assert bank.proxy is not None
    bank.proxy.reset(new=True)
    await trio.sleep(4)
    bank.proxy.restore()


async def hold(bank: Bank) -> None:
    assert bank.proxy is not None
    bank.proxy.hold()
    await trio.sleep(6)
    bank.proxy.restore()


async def freeze(bank: Bank) -> None:
    """Let the open connections go silent, though everything is acknowledged."""
    assert bank.proxy is not None
    bank.proxy.freeze()
    await trio.sleep(1)


async def drop(bank: Bank) -> None:
    """Let the packets of the open connections go nowhere."""
    assert bank.proxy is not None
    bank.proxy.drop()
    await trio.sleep(1)


async def half_close(bank: Bank) -> None:
    """End the stream to the client, which is all that the client learns."""
    assert bank.proxy is not None
    bank.proxy.half_close()
    await trio.sleep(1)


ON_POSTGRES: tuple[Engine, ...] = ("postgresql",)
FAULTS = (
    Fault("none", nothing),
    Fault("kill -9 of one process, three times", kill_one),
    Fault("kill -9 of all processes", kill_all),
    Fault("SIGSTOP of one process, 8 s", stop_one),
    Fault("SIGHUP, twice", replace_all),
    Fault("kill -9 of the renderers", kill_renderers),
    Fault("jobs that exit in a task", poison),
    Fault("60 clients hold the connections", overload),
    Fault("database restarted, twice", restart_database, ON_POSTGRES),
    Fault("kill -9 of the database", crash_database, ON_POSTGRES),
    Fault("connections reset, five times", reset, ON_POSTGRES),
    Fault("connections reset for 4 s", reset_connections, ON_POSTGRES),
    Fault("data held for 6 s", hold, ON_POSTGRES),
    Fault("open connections frozen", freeze, ON_POSTGRES),
    Fault("open connections dropped", drop, ON_POSTGRES),
    Fault("open connections half closed", half_close, ON_POSTGRES),
    Fault("behind pgbouncer in transaction mode", nothing, ON_POSTGRES, "transaction"),
    Fault("behind pgbouncer in transaction mode, reset", reset, ON_POSTGRES, "transaction"),
    Fault("behind pgbouncer in transaction mode, kill -9", kill_one, ON_POSTGRES, "transaction"),
    Fault("behind pgbouncer in session mode", nothing, ON_POSTGRES, "session"),
    Fault("behind pgbouncer in session mode, kill -9", kill_one, ON_POSTGRES, "session"),
    Fault("stock Hypercorn, none", nothing, stock=True),
    Fault("stock Hypercorn, database restarted, twice", restart_database, ON_POSTGRES, stock=True),
    Fault("stock Hypercorn, connections reset", reset, ON_POSTGRES, stock=True),
    Fault("stock Hypercorn, connections frozen", freeze, ON_POSTGRES, stock=True),
    Fault("stock Hypercorn, kill -9 of all processes", kill_all, stock=True),
)
