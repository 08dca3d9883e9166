"""Nothing that a project does ends `fx dev`: `tests/cli/days.py` has the list."""

from __future__ import annotations

import time
from pathlib import Path

from tests.cli.days import ALWAYS, DAYS, PAGE, Desk
from tests.e2e.support import Server
from tests.short import LONG

NAMES = sorted(DAYS) if LONG else ALWAYS


def test_fx_dev_lives_through_all_of_them(server: Server, project: Path) -> None:
    desk = Desk(project, server)
    desk.write("pages/index.fxl", PAGE % "before")
    wrong = []
    for name in NAMES:
        day = DAYS[name](desk)
        next(day)
        desk.ask()
        for _ in day:
            pass
        if not _shows_what_is_saved(desk, name):
            wrong.append(name)
        assert server.process.poll() is None, f"{name} has ended it:\n{server.output()}"
    assert not wrong, f"{wrong}: what was saved then is not shown\n{server.output()}"


def _shows_what_is_saved(desk: Desk, name: str) -> bool:
    give_up = time.monotonic() + 30
    while f"<h1>after {name}</h1>" not in desk.ask(seconds=5):
        if time.monotonic() > give_up or desk.server.process.poll() is not None:
            return False
        desk.write("pages/index.fxl", f"NAME = {name!r}\n\n{PAGE % f'after {name}'}")
    return True
