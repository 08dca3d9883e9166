"""The first process of a run is alone."""

from __future__ import annotations

import threading
from uuid import uuid4

from tests.first_alone import first_alone

PATIENCE = 60.0


def test_others_come_when_the_first_has_left() -> None:
    run = uuid4().hex
    events: list[str] = []

    def other() -> None:
        with first_alone(run):
            events.append("other")

    others = [threading.Thread(target=other) for _ in range(2)]
    with first_alone(run):
        for thread in others:
            thread.start()
        events.append("first")
    for thread in others:
        thread.join(PATIENCE)
    assert events == ["first", "other", "other"]


def test_runs_do_not_wait_for_each_other() -> None:
    with first_alone(uuid4().hex), first_alone(uuid4().hex):
        pass
