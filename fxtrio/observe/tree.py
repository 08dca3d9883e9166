"""The tree of tasks: who owns what runs, since when, and the line at which each task waits.

Trio knows for every task which nursery owns it. `take_tree` reads that, on any thread and while
the loop runs: each list is copied in one step of the interpreter, and a task that moves on
meanwhile is shown as it was before or after. A tree holds names and lines of code, patterns of
URLs and ids of requests; no arguments and no variables.
"""

from __future__ import annotations

import gc
import sys
import threading
import time
from collections.abc import Iterator
from math import inf, isfinite
from types import FrameType
from typing import Any
from weakref import WeakKeyDictionary

import attrs
import trio

from fxtrio.context import RequestContext, current
from fxtrio.observe.places import is_of_application, is_of_trio, line_of, stack_of
from fxtrio.observe.trio_internals import deadline_of
from fxtrio.spans import Span, current_span
from fxtrio.tasks.calls import driven_by

MOST = 20_000
"""Tasks that one tree holds; of more it says how many it left out (count)."""

_DEEPEST = 200  # frames of one task, and nurseries within nurseries
_APART = 3
"""Tasks of one owner that do the same are shown one by one up to this many (count)."""

_FRAMES = ("cr_frame", "gi_frame", "ag_frame")
"""Where coroutines, generators and async generators have their frame."""

_WRAPPERS = frozenset(
    {"async_generator_asend", "async_generator_athrow", "coroutine_wrapper", "anext_awaitable"}
)
"""What ``__anext__``, ``aclose``, ``coroutine.__await__`` and ``anext`` with a default return."""


@attrs.define(eq=False, kw_only=True)
class TaskNode:
    """A task, or several of one owner that do the same."""

    name: str
    at: str
    """The innermost line of the application, ``pages/book.fxl:11 find_reviews``; else of the
    framework or a library, and "" within trio alone."""

    age: float | None
    """Seconds since it began, of several the longest; None where nobody counts."""

    left: float | None
    """Seconds to its deadline, of several the least; None without one."""

    cancelled: bool
    """Whether it has been told to end."""

    running: bool
    """Whether it runs at this moment."""

    work: str
    """For whom: ``GET /book``, ``job mail.send``; "" for what belongs to the app."""

    part: str
    """Which part of that: ``loader pages/book.fxl: load()``."""

    since: float | None
    """Seconds since the request or job began."""

    request: str
    """The id of the request that began it, "" without one."""

    tasks: list[TaskNode] = attrs.field(factory=list)
    count: int = 1


@attrs.frozen(kw_only=True)
class ThreadNode:
    """A thread in which the application runs."""

    name: str
    at: str


@attrs.frozen(kw_only=True)
class Tree:
    """The tasks and threads of a process."""

    process: int
    tasks: int
    """How many there are (count)."""

    omitted: int
    """How many are beyond `MOST` (count)."""

    held: str
    """The line at which the application holds the loop now; "" while it waits."""

    root: TaskNode
    threads: list[ThreadNode]

    def as_dict(self) -> dict[str, Any]:
        """Return it with the keys of `fx tree --json`."""
        return attrs.asdict(self)


class Births(trio.abc.Instrument):
    """When tasks began. Trio calls it for nothing but a new task."""

    def __init__(self) -> None:
        self._born: WeakKeyDictionary[trio.lowlevel.Task, float] = WeakKeyDictionary()

    def task_spawned(self, task: trio.lowlevel.Task) -> None:
        """Note the time."""
        self._born[task] = time.monotonic()

    def age(self, task: trio.lowlevel.Task, now: float) -> float | None:
        """Return the seconds since ``task`` began; None if that was before this was there."""
        born = self._born.get(task)
        return None if born is None else now - born


@attrs.frozen(eq=False)
class Loop:
    """A loop whose tasks can be listed from any thread."""

    root: trio.lowlevel.Task
    clock: trio.abc.Clock
    thread: int
    births: Births | None

    @classmethod
    def here(cls, births: Births | None = None) -> Loop:
        """Return the loop that the caller runs on."""
        root = trio.lowlevel.current_root_task()
        if root is None:  # only before the first task
            raise RuntimeError("trio has no root task")
        return cls(root, trio.lowlevel.current_clock(), threading.get_ident(), births)


def take_tree(loop: Loop, process: int) -> Tree:
    """Return what runs on ``loop``, and in the threads of its process ``process``."""
    return _Reading(loop).tree(process)


class _Reading:
    def __init__(self, loop: Loop) -> None:
        self._loop = loop
        self._now = time.monotonic()
        self._counter = time.perf_counter()
        self._clock = loop.clock.current_time()
        self._frames = sys._current_frames()
        self._seen = 0
        # The caller is no part of what it looks at.
        own = threading.get_ident() == loop.thread
        self._stack = [] if own else _outermost_first(self._frames.get(loop.thread))

    def tree(self, process: int) -> Tree:
        root = self._node(self._loop.root, 0)
        return Tree(
            process=process,
            tasks=self._seen,
            omitted=max(self._seen - MOST, 0),
            held=_innermost([(frame, frame.f_lineno) for frame in self._stack], strict=True),
            root=root,
            threads=list(self._threads()),
        )

    def _threads(self) -> Iterator[ThreadNode]:
        for thread in threading.enumerate():
            if thread.ident in (self._loop.thread, threading.get_ident()):
                continue
            frames = _outermost_first(self._frames.get(thread.ident or 0))
            at = _innermost([(frame, frame.f_lineno) for frame in frames], strict=True)
            if at:
                yield ThreadNode(name=_plain(thread.name), at=at)

    def _node(self, task: trio.lowlevel.Task, depth: int) -> TaskNode:
        self._seen += 1
        frames = list(_awaited(task))
        context = task.context
        for frame, _ in frames:
            driven = driven_by(frame)
            if driven is not None:  # a job of the queue, which has a context of its own
                context, coroutine = driven
                frames += list(_chain(coroutine))
                break
        running = bool(self._stack) and _is_running(task, self._stack)
        if running:  # what it awaits is not known then, and its thread says where it is
            frames = [(frame, frame.f_lineno) for frame in self._stack]
        deadline = deadline_of(task)
        node = TaskNode(
            name=_plain(task.name),
            at=_innermost(frames),
            age=None if self._loop.births is None else self._loop.births.age(task, self._now),
            left=deadline - self._clock if isfinite(deadline) else None,
            cancelled=deadline == -inf,
            running=running,
            **self._work(context.get(current_span), context.get(current)),
        )
        if depth < _DEEPEST and self._seen < MOST:
            children = [child for nursery in task.child_nurseries for child in nursery.child_tasks]
            node.tasks = _grouped([self._node(child, depth + 1) for child in children])
        return node

    def _work(self, span: Span | None, context: RequestContext | None) -> dict[str, Any]:
        request = "" if context is None else context.request_id or ""
        if span is None:
            return {"work": "", "part": "", "since": None, "request": request}
        root = span.root
        if root.rename is not None:
            root.rename()
        named = root.name if root.kind == "request" else f"{root.kind} {root.name}"
        return {
            "work": named,
            "part": "" if span is root else f"{span.kind} {span.name}",
            "since": self._counter - root.began,
            "request": str(root.values.get("request", request)),
        }


def _grouped(nodes: list[TaskNode]) -> list[TaskNode]:
    """Put nodes without tasks together that differ in nothing but their times and requests."""
    groups: dict[tuple[str, ...], list[TaskNode]] = {}
    for index, node in enumerate(nodes):
        alone = (str(index),) if node.tasks or node.running else ()
        groups.setdefault((node.name, node.at, node.work, node.part, *alone), []).append(node)
    found: list[TaskNode] = []
    for group in groups.values():
        if len(group) <= _APART:
            found += group
            continue
        first = max(group, key=lambda node: node.age or node.since or 0.0)
        lefts = [node.left for node in group if node.left is not None]
        first.left = min(lefts, default=None)
        first.count = len(group)
        found.append(first)
    return sorted(found, key=lambda node: -(node.age or node.since or 0.0))


def _awaited(task: trio.lowlevel.Task) -> Iterator[tuple[FrameType, int]]:
    return _chain(task.coro)


def _chain(coroutine: Any) -> Iterator[tuple[FrameType, int]]:
    """Yield the frames of a coroutine and of what it awaits, as far as those can be seen."""
    for _ in range(_DEEPEST):
        frames = (getattr(coroutine, name, None) for name in _FRAMES)
        frame = next(filter(None, frames), None)
        if frame is not None:
            yield frame, frame.f_lineno
        elif coroutine is None:
            return
        inner = getattr(coroutine, "cr_await", None) or getattr(coroutine, "gi_yieldfrom", None)
        if inner is None:
            inner = _wrapped_by(coroutine)
        coroutine = inner


def _wrapped_by(awaited: Any) -> Any:
    """Return what one of the interpreter's own awaitables wraps, since those do not say."""
    if type(awaited).__name__ not in _WRAPPERS:
        return getattr(awaited, "ag_await", None)
    for found in gc.get_referents(awaited):
        if type(found).__name__ in _WRAPPERS or any(hasattr(found, name) for name in _FRAMES):
            return found
    return None


def _outermost_first(frame: FrameType | None) -> list[FrameType]:
    return list(stack_of(frame))[::-1]


def _is_running(task: trio.lowlevel.Task, stack: list[FrameType]) -> bool:
    frame = getattr(task.coro, "cr_frame", None)
    return frame is not None and any(frame is one for one in stack)


def _innermost(frames: list[tuple[FrameType, int]], *, strict: bool = False) -> str:
    """Return the innermost line of the application; unless ``strict``, else one above trio's."""
    for frame, line in reversed(frames):
        if is_of_application(frame):
            return line_of(frame, line)
    if strict:
        return ""
    for frame, line in reversed(frames):
        if not is_of_trio(frame):
            return line_of(frame, line)
    return ""


def _plain(name: str) -> str:
    """Return the name of a task or thread without the values that a repr may have."""
    return name.partition("(")[0] if "=" in name else name
