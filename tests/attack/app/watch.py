"""What the process knows about itself: how long its event loop stood still, and who got in."""

import os
import sys
import threading
import time
import traceback
from collections import deque
from contextlib import asynccontextmanager

import attrs
import trio
from models import EMAIL, PASSWORD

from fxtrio.plugins import Plugin

LONGEST = 0.25
"""Processor time between two looks of the loop at its sockets, also where a thread takes it
(seconds)."""

BEAT = 0.02
"""Seconds between two beats of the task that is woken late while the loop is held up."""

CANARY = os.environ.get("ATTACK_CANARY", "canary")
"""What only signed-in users may see."""


class LoopMeter(trio.abc.Instrument):
    """Measures the processor time of the loop's thread, which neighbours do not add to."""

    def __init__(self):
        self.stalls = deque(maxlen=20)
        self.longest = self.longest_lag = 0.0
        self.breaches = deque(maxlen=20)
        """Handlers that are guarded, and ran for nobody."""
        self._turn_began = None
        self._task = ""
        self._step_began = self._step_longest = 0.0
        self._stack = ""

    def after_io_wait(self, timeout):
        self._step_longest, self._task, self._stack = 0.0, "", ""
        self._turn_began = time.thread_time()

    def before_task_step(self, task):
        self._step_began = time.thread_time()

    def after_task_step(self, task):
        took = time.thread_time() - self._step_began
        if took > self._step_longest:
            self._step_longest, self._task = took, task.name

    def before_io_wait(self, timeout):
        began, self._turn_began = self._turn_began, None
        if began is None:
            return
        took = time.thread_time() - began
        self.longest = max(self.longest, took)
        if took > LONGEST:
            stall = {"seconds": took, "task": self._task, "step": self._step_longest}
            self.stalls.append({**stall, "stack": self._stack})

    async def beat(self):
        """Measure how late a task is woken while the process is busy, in whichever thread.

        What a thread does without letting go of the interpreter holds the loop up as well.
        """
        while True:
            slept, used = time.monotonic(), time.process_time()
            await trio.sleep(BEAT)
            lag = time.monotonic() - slept - BEAT
            lag = min(lag, time.process_time() - used)  # the rest is the neighbours'
            self.longest_lag = max(self.longest_lag, lag)
            if lag > LONGEST:
                self.stalls.append({"seconds": lag, "task": "a thread", "step": 0.0, "stack": ""})

    def look(self, thread):
        """Note what the loop's thread is at, when it has been at it for long."""
        began = self._turn_began
        clock = time.pthread_getcpuclockid(thread)
        if began is not None and time.clock_gettime(clock) - began > 0.6 * LONGEST:
            frame = sys._current_frames().get(thread)
            if frame is not None and not self._stack:
                self._stack = "".join(traceback.format_stack(frame)[-12:])

    def take(self):
        """Return what was noticed since the last time."""
        seen = {
            "stalls": list(self.stalls),
            "longest": self.longest,
            "longest_lag": self.longest_lag,
            "breaches": list(self.breaches),
            "tasks": trio.lowlevel.current_statistics().tasks_living,
        }
        self.stalls.clear()
        self.breaches.clear()
        self.longest = self.longest_lag = 0.0
        return seen


@attrs.frozen
class WatchSettings:
    pass


class Watch(Plugin[WatchSettings]):
    name = "watch"
    Settings = WatchSettings

    @asynccontextmanager
    async def open(self, app):
        """Measure the loop for as long as the app runs, and see that there is a user."""
        await app.plugins["auth"].add_user(EMAIL, PASSWORD)
        meter = LoopMeter()
        over = threading.Event()
        looking = threading.Thread(target=_look, args=(meter, threading.get_ident(), over))
        looking.start()
        trio.lowlevel.add_instrument(meter)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(meter.beat)
            try:
                yield meter
            finally:
                trio.lowlevel.remove_instrument(meter)
                nursery.cancel_scope.cancel()
                over.set()
                looking.join()


def _look(meter, thread, over):
    while not over.wait(0.05):
        meter.look(thread)


def seen_by(connection, user):
    """Return what a guarded page shows; that nobody is signed in there is a breach."""
    if user is None:
        plugins = connection.app.state.fx.plugins
        plugins["watch"].breaches.append(str(connection.scope["path"]))
    return {"canary": CANARY, "email": user.email if user else None}
