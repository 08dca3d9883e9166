"""Planted mistakes are found where they are, and plain pages are left in peace."""

from __future__ import annotations

from pathlib import Path

import trio

from fxtrio.cli.typecheck import check_types
from tests.types.projects import write_project


async def problems_of(root: Path) -> dict[str, list[str]]:
    told: list[str] = []
    with trio.fail_after(240):
        checked = await check_types(root, python=False, report=told.append)
    found: dict[str, list[str]] = {}
    for problem in checked.problems:
        path = Path(problem.path).as_posix().removeprefix(f"{root.as_posix()}/")
        place = f"{problem.line}:{problem.column}"
        found.setdefault(path, []).append(f"{place}: {problem.message}. {problem.remedy}")
    return found


async def test_plain_pages_are_left_in_peace(tmp_path: Path) -> None:
    project = write_project("plain.txt", tmp_path)

    assert project.pages >= 40
    assert await problems_of(tmp_path) == {}


async def test_each_planted_mistake_is_found_where_it_is(tmp_path: Path) -> None:
    project = write_project("mistakes.txt", tmp_path)
    found = await problems_of(tmp_path)
    missed = {
        source: ((line, column), found.get(source))
        for source, (line, column) in project.marks.items()
        if not any(one.startswith(f"{line}:{column}:") for one in found.get(source, []))
    }

    assert len(project.marks) >= 60
    assert missed == {}
    assert {source: all_ for source, all_ in found.items() if len(all_) > 1} == {}
    assert found.keys() <= project.marks.keys()
    (message,) = found["pages/message-kind.fxl"]
    assert "no 'member' in a message of the WebSocket. Did you mean 'members'?" in message
    (path,) = found["pages/socket-path-typed.fxl"]
    assert (
        "no page with a WebSocket has the path '/mesage-kind'. Did you mean '/message-kind'?"
        in path
    )
    (stream,) = found["pages/key-of-a-stream.fxl"]
    assert "no 'data' in 'StreamState" in stream
    assert stream.endswith("It has values, last, status, missed, error")
