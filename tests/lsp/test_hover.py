from __future__ import annotations

from pathlib import Path

import pytest
import trio
from pygls.workspace import TextDocument

from fxtrio.compile.problems import Problem
from fxtrio.tools.lsp.answers.features import LONGEST_HOVER, Answers
from fxtrio.tools.lsp.answers.hover import STARTING
from fxtrio.tools.lsp.documents.documents import Documents
from fxtrio.tools.lsp.documents.page_cache import PageCache
from fxtrio.tools.lsp.processes.delegated_servers import DelegatedServers
from fxtrio.tools.lsp.processes.ui_analysis import Analyst
from fxtrio.tools.lsp.project_index import ProjectIndex

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
