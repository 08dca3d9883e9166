"""What the test client makes of answers."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from fx.testing import Client, open_app
from fxtrio.testing.responses import AnswerUnreadable
from tests.trees import page, write_tree

PAGE = """
    from starlette.responses import PlainTextResponse
    from fx.runtime import redirect

    @server
    async def load(request):
        if "away" in request.query_params:
            return redirect("/there?x=1")
        return {"n": 1}

    @action
    async def export(request):
        return PlainTextResponse("a,b", 201)

    def to_markdown(ctx):
        return "# Home"
    """


@pytest.fixture
async def client(tmp_path: Path) -> AsyncIterator[Client]:
    files = {
        "pages/index.fxl": page(PAGE),
        "pages/api/list.py": "async def get(request):\n    return [1, 2]\n",
        "public/notes.txt": "notes",
    }
    async with open_app(write_tree(tmp_path, files), llms=True) as opened:
        yield opened


async def test_a_response_has_its_status_by_both_names(client: Client) -> None:
    response = await client.get("/nowhere")
    assert (response.status, response.status_code) == (404, 404)


async def test_load_page_says_where_a_loader_sends_the_visitor(client: Client) -> None:
    there, here = await client.load_page("/?away"), await client.load_page("/")
    assert (there.redirect, there.data) == ("/there?x=1", {})
    assert (here.redirect, here.data) == ("", {"n": 1})


@pytest.mark.parametrize(
    ("url", "answer"),
    [
        ("/index.md", "status 200 and is text/markdown; charset=utf-8: '# Home'"),
        ("/notes.txt", "status 200 and is text/plain; charset=utf-8: 'notes'"),
        ("/api/list", "status 200 and is application/json: '[1,2]'"),
    ],
)
async def test_load_page_says_what_it_got_instead_of_a_page(
    client: Client, url: str, answer: str
) -> None:
    with pytest.raises(AnswerUnreadable) as caught:
        await client.load_page(url)
    assert str(caught.value) == (
        f"load_page({url!r}): the response has {answer}. Name the URL of a page, or use get()."
    )


async def test_an_answer_of_an_action_that_is_no_json_is_success_without_data(
    client: Client,
) -> None:
    result = await client.action("/", "export")
    assert (result.status, result.ok, result.data) == (201, True, {})
