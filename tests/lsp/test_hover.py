from __future__ import annotations

from pathlib import Path

import pytest
import trio
from pygls.workspace import TextDocument

from fxtrio.compile.problems import Problem
from fxtrio.compile.project import check_project
from fxtrio.config import Config
from fxtrio.tools.lsp.answers.features import LONGEST_HOVER, Answers
from fxtrio.tools.lsp.answers.hover import SERVER_STARTING, STARTING
from fxtrio.tools.lsp.documents.documents import Documents
from fxtrio.tools.lsp.documents.page_cache import PageCache
from fxtrio.tools.lsp.processes.delegated_servers import DelegatedServers
from fxtrio.tools.lsp.processes.ui_analysis import Analyst
from fxtrio.tools.lsp.project_index import KnownProject, ProjectIndex
from fxtrio.tools.types.gather.page_types import ProjectTypes
from tests.lsp.editor import open_editor
from tests.lsp.test_across import FILES, place
from tests.lsp.test_delegated_servers import PYTHON
from tests.trees import write_tree

PAGE = "@server\nasync def load(request):\n    return {}\n\n\nexport default () => <p>text</p>;\n"


@pytest.mark.parametrize(
    ("place", "text"), [((5, 9), STARTING), ((1, 8), STARTING), ((4, 0), None)]
)
async def test_a_hover_says_that_types_are_being_read(
    tmp_path: Path, autojump_clock: trio.testing.MockClock, place: tuple[int, int], text: str | None
) -> None:
    async def take(root: Path, kind: str, found: list[Problem]) -> None:
        raise AssertionError

    documents, analyst = Documents(), Analyst(print)
    pages, knowledge = PageCache(documents), ProjectIndex(print, take)
    others = DelegatedServers(print, knowledge)
    answers = Answers(documents, pages, analyst, knowledge, others)
    document = documents.take(TextDocument((tmp_path / "a.fxl").as_uri(), PAGE, 1))
    assert document is not None

    found = await answers.hover(document, dict(zip(("line", "character"), place, strict=True)))

    assert trio.current_time() <= LONGEST_HOVER + 1
    assert found == (text and {"contents": {"kind": "markdown", "value": text}})


async def test_a_hover_says_that_a_server_for_python_does_not_answer_yet(
    tmp_path: Path,
    autojump_clock: trio.testing.MockClock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def take(root: Path, kind: str, found: list[Problem]) -> None:
        raise AssertionError

    write_tree(tmp_path, {"a.fxl": PAGE})
    documents, analyst = Documents(), Analyst(print)
    pages, knowledge = PageCache(documents), ProjectIndex(print, take)
    known = KnownProject(check_project(tmp_path, Config()), ProjectTypes())
    monkeypatch.setattr(knowledge, "of", {tmp_path: known}.get)
    others = DelegatedServers(print, knowledge)
    others.commands["python"] = ["slow"]  # which nobody runs
    answers = Answers(documents, pages, analyst, knowledge, others)
    document = documents.take(TextDocument((tmp_path / "a.fxl").as_uri(), PAGE, 1))
    assert document is not None

    found = await answers.hover(document, {"line": 1, "character": 12})

    assert found == {"contents": {"kind": "markdown", "value": SERVER_STARTING}}


@pytest.mark.node
async def test_the_first_hover_has_an_answer_in_both_halves(tmp_path: Path) -> None:
    write_tree(tmp_path, FILES)
    text = FILES["pages/index.fxl"]
    answers: list[object] = []
    async with open_editor(tmp_path, python=PYTHON) as editor:
        uri = await editor.open(tmp_path / "pages/index.fxl")
        async with trio.open_nursery() as nursery:

            async def hover(before: str) -> None:
                answers.append(await editor.ask("hover", uri, *place(text, before)))

            for before in ("async def lo", "{entry.titl"):
                nursery.start_soon(hover, before)
    assert len(answers) == 2
    assert None not in answers
