"""`fx jobs`: run durable jobs apart from the server, and look after them."""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import click

from fxtrio.cli.db import open_configured
from fxtrio.cli.output import json_option, print_done, root_option
from fxtrio.cli.subcommands import Subcommands, hand_on_root
from fxtrio.compile.plurals import counted
from fxtrio.config import load_env_files

if TYPE_CHECKING:
    from fxtrio.jobs.store import JobStore

Answer = TypeVar("Answer")

_STATES = ("waiting", "running", "done", "failed")
_MOMENTS = ("due", "made", "ended")


class _Commands(Subcommands):
    elsewhere: ClassVar = {"run": "work", "worker": "work", "start": "work", "status": "list"}


@click.group(cls=_Commands)
@hand_on_root
def command() -> None:
    """Run and manage durable jobs."""


@command.command
@root_option
@click.option("--queue", "queues", multiple=True, help="Take jobs of this queue. May be repeated.")
@click.option("--workers", type=click.IntRange(1), default=4, help="Jobs at the same time.")
def work(root: Path, queues: tuple[str, ...], workers: int) -> None:
    """Run the jobs of a build until stopped.

    After SIGTERM or Ctrl-C running jobs may finish, as in the server; the rest return to the
    queue.
    """
    import trio

    from fxtrio.cli.jobs.worker import run_apart

    load_env_files(root)

    async def run() -> None:
        with trio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as signals:
            await run_apart(root, queues, workers, until=signals.__anext__, report=print_done)

    trio.run(run)


@command.command("list")
@root_option
@click.option("--state", type=click.Choice(_STATES), help="Only those in this state.")
@click.option("--queue", help="Only those of this queue.")
@click.option(
    "--limit", type=click.IntRange(1), default=50, help="The maximum number of jobs to print."
)
@json_option
def list_(root: Path, state: str | None, queue: str | None, limit: int, as_json: bool) -> None:
    """List jobs, the newest first."""
    from fxtrio.jobs.admin import list_jobs

    found = _ask(root, partial(list_jobs, state=state, queue=queue, most=limit))
    if as_json:
        _print_json(found)
    for row in [] if as_json else found:
        click.echo(
            f"{row['id']:>8}  {row['state']:<8}{row['queue']:<10}{_moment(row['due'])}  "
            f"{row['name']}  {row['args']}"
        )


@command.command
@root_option
@click.argument("number", type=int)
@json_option
def show(root: Path, number: int, as_json: bool) -> None:
    """Print everything about a job, with its last error."""
    from fxtrio.jobs.admin import show_job

    found = _ask(root, lambda store: show_job(store, number))
    if found is None:
        raise click.ClickException(f"There is no job {number}.")
    if as_json:
        _print_json(found)
        return
    for key, value in found.items():
        text = _moment(value) if key in _MOMENTS and value is not None else value
        if value is not None:
            click.echo(f"{key + ':':<12}{text}")


@command.command
@root_option
@click.argument("numbers", type=int, nargs=-1)
@click.option("--name", help="All failed jobs of this name.")
@click.option("--queue", help="All failed jobs of this queue.")
def retry(root: Path, numbers: tuple[int, ...], name: str | None, queue: str | None) -> None:
    """Return failed jobs to their queue, as if they had never run."""
    from fxtrio.jobs.admin import retry_all, retry_jobs, why_not_retried

    _check_choice(numbers, name, queue)
    if not numbers:
        found = _ask(root, lambda store: retry_all(store, time.time(), name=name, queue=queue))
        print_done(f"{counted(found, 'job')} waiting again.")
        return

    async def again(store: JobStore) -> tuple[list[int], dict[int, str]]:
        done = await retry_jobs(store, numbers, await store.now())
        left = [number for number in numbers if number not in done]
        return done, {number: await why_not_retried(store, number) for number in left}

    done, why = _ask(root, again)
    _tell("waiting again", done, why)


@command.command
@root_option
@click.argument("numbers", type=int, nargs=-1)
@click.option("--name", help="All jobs of this name.")
@click.option("--queue", help="All jobs of this queue.")
@click.option(
    "--state",
    type=click.Choice([state for state in _STATES if state != "running"]),
    default="failed",
    show_default=True,
    help="In which state, with --name or --queue.",
)
def discard(
    root: Path, numbers: tuple[int, ...], name: str | None, queue: str | None, state: str
) -> None:
    """Delete jobs that are not running."""
    from fxtrio.jobs.admin import discard_all, discard_jobs

    _check_choice(numbers, name, queue)
    if not numbers:
        found = _ask(root, lambda store: discard_all(store, state, name=name, queue=queue))
        print_done(f"{counted(found, 'job')} forgotten.")
        return
    done = _ask(root, lambda store: discard_jobs(store, numbers))
    left = [number for number in numbers if number not in done]
    _tell("forgotten", done, dict.fromkeys(left, "is running, or does not exist"))


def _check_choice(numbers: tuple[int, ...], name: str | None, queue: str | None) -> None:
    """Raise UsageError unless jobs are chosen by numbers or by what they are."""
    if bool(numbers) == (name is not None or queue is not None):
        raise click.UsageError("Give the numbers of jobs, or --name, --queue or both.")


@command.command
@root_option
@click.argument("queue")
def pause(root: Path, queue: str) -> None:
    """Stop processes from starting jobs of a queue.

    Running jobs finish. 'fx jobs resume' ends the pause.
    """
    from fxtrio.jobs.admin import pause_queue

    new = _ask(root, lambda store: pause_queue(store, queue, time.time()))
    print_done(f"The queue {queue!r} {'is' if new else 'was'} paused{'' if new else ' already'}.")


@command.command
@root_option
@click.argument("queue")
def resume(root: Path, queue: str) -> None:
    """Let processes start jobs of a paused queue again."""
    from fxtrio.jobs.admin import resume_queue

    if not _ask(root, lambda store: resume_queue(store, queue)):
        raise click.ClickException(f"The queue {queue!r} is not paused.")
    print_done(f"The queue {queue!r} is running again.")


@command.command
@root_option
@json_option
def stats(root: Path, as_json: bool) -> None:
    """Count jobs by name and state."""
    from fxtrio.jobs.admin import count_jobs, list_paused

    found = _ask(root, count_jobs)
    paused = _ask(root, list_paused)
    if as_json:
        _print_json(found)
    for row in [] if as_json else found:
        note = "  (paused)" if row["queue"] in paused and row["state"] == "waiting" else ""
        click.echo(f"{row['jobs']:>8}  {row['state']:<8}{row['queue']:<10}{row['name']}{note}")


def _ask(root: Path, work: Callable[[JobStore], Awaitable[Answer]]) -> Answer:
    import trio

    load_env_files(root)

    async def ask() -> Answer:
        from fxtrio.jobs.store import JobStore

        async with open_configured(root) as database:
            store = JobStore(database)
            await store.prepare()
            return await work(store)

    return trio.run(ask)


def _tell(what: str, done: list[int], why_not: dict[int, str]) -> None:
    """Say what was done, and why not to others."""
    if done:
        print_done(f"{counted(len(done), 'job')} {what}.")
    if why_not:
        lines = (f"The job {number} {why}." for number, why in why_not.items())
        raise click.ClickException("\n".join(lines))


def _print_json(value: Any) -> None:
    click.echo(json.dumps(value, indent=2))


def _moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(sep=" ", timespec="seconds")[:19]
