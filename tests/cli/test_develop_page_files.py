"""Page files as `fx dev` reads them after a save."""

from __future__ import annotations

from pathlib import Path

import pytest
import trio
from trio.testing import MockClock

from fxtrio.develop.build import page_cache
from fxtrio.develop.build.page_cache import PageFiles
from tests.trees import write_tree

BROKEN = "@server\nasync def load(request:\n    return {}\n\nexport default () => <h1>one</h1>;\n"


@pytest.mark.parametrize("whole", [True, False], ids=["whole", "perhaps half-written"])
async def test_a_mistake_is_reported_at_once_where_only_whole_files_are_read(
    tmp_path: Path, autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch, whole: bool
) -> None:
    monkeypatch.setattr(page_cache, "has_inotify", lambda: whole)
    write_tree(tmp_path, {"pages/index.fxl": BROKEN})
    files = PageFiles(tmp_path)

    assert await files.read(["pages/index.fxl"]) == {}

    assert files.wrong()
    assert (trio.current_time() == 0) is whole
