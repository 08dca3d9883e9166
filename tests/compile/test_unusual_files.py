"""Files that a project contains, and that are no text."""

from __future__ import annotations

import os
from pathlib import Path

from fxtrio.compile.problems import Problem
from fxtrio.compile.source import read_source


def test_a_pipe_is_no_source_and_nobody_waits_for_it(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "index.fxl")
    found = read_source(tmp_path, "index.fxl")
    assert isinstance(found, Problem)
    assert found.message == "it cannot be read: it is not a regular file"
