"""A few random edits, each seen by everybody; `python -m tests.edits` makes two hundred."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
from collections.abc import Iterator
from copy import deepcopy
from itertools import cycle, islice
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Browser

from tests.short import amount

from .project import Module, Project, View
from .run import Run, running
from .works import Author

pytestmark = pytest.mark.browser

SEED = 20
EDITS = amount(4, long=25)
RESTARTS = 8

BURSTS = 3
BURST = 20
"""Saves within a second, or as many as the machine can."""

SWITCHES = 4
"""Of the branch, there and back; the second time is like the first for what came between."""

FILES = 60
"""Files that differ between two branches."""


@pytest.fixture
def run(tmp_path: Path, browser: Browser) -> Iterator[Run]:
    with running(tmp_path, browser, SEED, print) as opened:
        yield opened


def test_everybody_sees_the_same_after_each_edit(run: Run, tmp_path: Path) -> None:
    for number in range(1, EDITS + 1):
        print(number, run.step())
        if number % RESTARTS == 0 or number == EDITS:
            run.compare_restarted(tmp_path / "shadow")


@pytest.mark.nightly
def test_many_saves_at_once_come_to_one_state(run: Run, tmp_path: Path) -> None:
    for _ in range(BURSTS):
        for number in range(BURST):
            run.save(run.author.edit())
            if number % 3:  # some come within one look of the watcher, some do not
                httpx.get(f"{run.server.url}/readyz", timeout=60)
        run.compare()
    run.compare_restarted(tmp_path / "shadow")


@pytest.mark.nightly
def test_a_switch_of_branches_comes_to_one_state(run: Run, tmp_path: Path) -> None:
    main, other = run.author.project, grown(run.author.project)
    (run.root / ".gitignore").write_text(".fx/\n*.log\n__pycache__/\n")
    git(run.root, "init", "--quiet", "--initial-branch", "main")
    git(run.root, "add", "--all")
    git(run.root, "commit", "--quiet", "--message", "main")
    git(run.root, "switch", "--quiet", "--create", "other")
    run.author.project = other
    before = run.saved
    run.save("another branch")
    changed = [file for file in {*before, *run.saved} if before.get(file) != run.saved.get(file)]
    assert len(changed) >= FILES
    run.compare()
    git(run.root, "add", "--all")
    git(run.root, "commit", "--quiet", "--message", "other")

    for branch, project in islice(cycle((("main", main), ("other", other))), SWITCHES):
        git(run.root, "switch", "--quiet", branch)
        run.author.project, run.saved = project, project.texts()
        run.compare()
    run.compare_restarted(tmp_path / "shadow")


def grown(project: Project) -> Project:
    """Return a project in which most files are others, some are new, and some are deleted."""
    other = deepcopy(project)
    author = Author(random.Random(SEED), other, ["index"])
    del other.views["shop/list"], other.endpoints["ping"]
    for number in range(30):
        folder = ("", "shop/", "deep/er/")[number % 3]
        module = f"branch{number}"
        other.modules[module] = Module(author.number(), ["gamma"])
        other.views[f"{folder}branch{number}"] = View(
            ui=author.number(), data=author.number(), modules=[module], parts=["Card"]
        )
    for view in other.views.values():
        view.ui = author.number()
    for name in other.parts:
        other.parts[name].token = author.number()
    for name in other.looks:
        other.looks[name] = author.number()
    other.modules["gamma"].token = author.number()
    return other


def git(root: Path, *arguments: str) -> None:
    """Run a command of Git."""
    program = shutil.which("git")
    assert program is not None
    who = {"GIT_AUTHOR_NAME": "A", "GIT_AUTHOR_EMAIL": "a@b.c", "GIT_CONFIG_GLOBAL": os.devnull}
    who |= {"GIT_COMMITTER_NAME": "A", "GIT_COMMITTER_EMAIL": "a@b.c"}
    subprocess.run([program, *arguments], cwd=root, check=True, env={**os.environ, **who})
