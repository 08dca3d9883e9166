"""`fx init` asks in a terminal what the project shall have, and nowhere else."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import subprocess
import sys
import termios
from functools import partial
from pathlib import Path

import pytest

from fxtrio.cli.exit_codes import INTERRUPTED
from fxtrio.cli.init import starter

QUESTION = re.compile(r"\? \[y/N\]: $")
CTRL_C = "\x03"
LONGEST = 60
"""Of one command, in seconds."""


def in_terminal(folder: Path, *args: str, typed: tuple[str, ...] = ()) -> tuple[int, str, int]:
    """Run `fx init` in a terminal, and type one of ``typed`` at each question.

    Returns the exit code, all that the terminal shows, and how many questions there were.
    """
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "fxtrio", "init", *args]
    with subprocess.Popen(
        command,
        cwd=folder,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
        preexec_fn=partial(fcntl.ioctl, theirs, termios.TIOCSCTTY, 0),  # Ctrl-C is a signal of it
    ) as process:
        os.close(theirs)
        output, questions = "", 0
        again = [CTRL_C] * 5 if CTRL_C in typed else []
        # Python misses a signal between its last look and the read that then waits for a line.
        while select.select([ours], [], [], LONGEST / 10 if again else LONGEST)[0] or again:
            if not select.select([ours], [], [], 0)[0]:
                os.write(ours, again.pop().encode())
                continue
            try:
                output += os.read(ours, 65536).decode()
            except OSError:  # the last process that had the terminal has ended
                break
            if QUESTION.search(output):
                os.write(ours, typed[questions].encode())
                questions += 1
                output += "\n"
        os.close(ours)
        return process.wait(LONGEST), output, questions


def written(project: Path) -> dict[str, bytes]:
    found = (path for path in project.rglob("*") if path.is_file())
    return {path.relative_to(project).as_posix(): path.read_bytes() for path in found}


def test_enter_accepts_the_defaults(tmp_path: Path) -> None:
    code, output, questions = in_terminal(tmp_path, "shop", typed=("\n",) * 5)

    assert (code, questions) == (0, 5), output
    assert "Created shop" in output
    assert written(tmp_path / "shop") == starter("shop")


def test_a_yes_adds_the_feature(tmp_path: Path) -> None:
    typed = ("y\n", "n\n", "what\n", "yes\n", "Y\n", "\n")
    code, output, questions = in_terminal(tmp_path, "shop", typed=typed)

    assert (code, questions) == (0, 6), output
    assert written(tmp_path / "shop") == starter(
        "shop", database=True, tailwind=True, typescript=True
    )
    assert "fx init shop --database --tailwind --typescript" in output


@pytest.mark.parametrize("answers", [0, 3])
def test_nothing_is_written_after_ctrl_c(tmp_path: Path, answers: int) -> None:
    code, output, questions = in_terminal(tmp_path, "shop", typed=("y\n",) * answers + (CTRL_C,))

    assert (code, questions) == (INTERRUPTED, answers + 1), output
    assert "Nothing was written" in output
    assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize(
    ("args", "options"),
    [(("-y",), {}), (("--yes",), {}), (("--docker",), {"docker": True})],
    ids=["-y", "--yes", "--docker"],
)
def test_options_are_an_answer(
    tmp_path: Path, args: tuple[str, ...], options: dict[str, bool]
) -> None:
    code, output, questions = in_terminal(tmp_path, "shop", *args)

    assert (code, questions) == (0, 0), output
    assert written(tmp_path / "shop") == starter("shop", **options)


def test_errors_are_reported_before_the_first_question(tmp_path: Path) -> None:
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "pytest.ini").touch()

    for name, cause in (("class", "word of Python's own"), ("shop", "pytest.ini exist already")):
        code, output, questions = in_terminal(tmp_path, name)
        assert questions == 0
        assert code != 0
        assert cause in " ".join(output.split())


def test_without_a_terminal_there_are_no_prompts(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "fxtrio", "init", "shop"]
    done = subprocess.run(command, cwd=tmp_path, input="y\n" * 5, capture_output=True, text=True)

    assert done.returncode == 0
    assert "[y/N]" not in done.stdout + done.stderr
    assert written(tmp_path / "shop") == starter("shop")
