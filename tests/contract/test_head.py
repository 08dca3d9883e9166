"""Elements of the document's head, as Node renders them."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from fx.testing import TestResponse
from tests.contract.projects import open_pages, problems_of
from tests.contract.rules import rule

Responses = dict[str, TestResponse]
pytestmark = pytest.mark.node


class HeadReader(HTMLParser):
    """Notes what stands in the head of a document."""

    def __init__(self) -> None:
        super().__init__()
        self.titles: list[str] = []
        self.metas: list[tuple[str, str]] = []
        self.canonical: list[str | None] = []
        self._in_title = self._over = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        name = values.get("name") or values.get("property")
        self._over = self._over or tag == "body"
        if self._over:
            return
        self._in_title = tag == "title"
        if tag == "meta" and name and name != "viewport":
            self.metas.append((name, values["content"] or ""))
        if tag == "link" and values.get("rel") == "canonical":
            self.canonical.append(values.get("href"))

    def handle_data(self, data: str) -> None:
        if self._in_title:
            self.titles.append(data)

    def handle_endtag(self, tag: str) -> None:
        self._in_title = False


def head_of(response: TestResponse) -> HeadReader:
    assert response.status == 200, response.text
    reader = HeadReader()
    reader.feed(response.text)
    return reader


@rule("head.1")
def test_head_1_the_head_component_works_from_deep_in_the_tree(responses: Responses) -> None:
    head = head_of(responses["/head/element"])
    assert head.titles == ["Head of a component"]
    assert ("description", "About Head of a component") in head.metas
    assert head.canonical == ["/element"]
    body = responses["/head/element"].text.partition("<body")[2]
    assert "deep" in body
    assert "<title" not in body.partition("<script")[0]


@rule("head.2", "head.2b")
def test_head_2_a_str_is_in_the_document(responses: Responses) -> None:
    head = head_of(responses["/head/static"])
    assert head.titles == ["HEAD of the page & more"]
    assert ("robots", "HEAD of the page") in head.metas


@rule("head.2b")
def test_head_2b_a_list_of_str_is_in_the_document(responses: Responses) -> None:
    head = head_of(responses["/head/list"])
    assert head.titles == ["A list"]
    assert ("og:type", "article") in head.metas


FILES = {
    name: f'HEAD = \'<meta name="{name}" content="1">\''
    for name in ("layout", "template", "error", "not-found", "index", "shop/layout", "shop/index")
}


@rule("head.2")
async def test_head_2_every_fxl_file_may_have_one(tmp_path: Path) -> None:
    files = {**FILES, "fails": "@server\nasync def load(request):\n    raise LoaderError('x')"}
    async with open_pages(tmp_path, files) as client:
        shop = (await client.load_page("/shop")).head
        failed = (await client.load_page("/fails")).head
        missing = (await client.load_page("/nowhere")).head
    assert _names(shop) == ["layout", "template", "shop/layout", "shop/index"]
    assert _names(failed)[-1] == "error"
    assert _names(missing)[-1] == "not-found"


def _names(head: list[list[Any]]) -> list[str]:
    metas = [node for level in head for node in level if node[0] == "meta"]
    return [node[1]["name"] for node in metas]


@rule("head.2")
def test_head_2_is_read_at_compile_time_where_mistakes_are_found(tmp_path: Path) -> None:
    wrong = {
        "a": "HEAD = '<div>'",
        "b": "HEAD = ['<meta onload=x>']",
        "c": "HEAD = 5",
        "d": "import os\nHEAD = '<title>' + os.name + '</title>'",
    }
    found = problems_of(tmp_path, wrong)
    assert [line.partition(":")[0] for line in found] == [f"pages/{name}.fxl" for name in wrong]
    assert all("HEAD" in line for line in found)


@rule("head.2c")
def test_head_2c_a_function_gets_the_data_of_the_loader(responses: Responses) -> None:
    assert head_of(responses["/head/%3Cb%3E"]).titles == ["Dynamic: <b>"]
    several = head_of(responses["/head/several"])
    assert several.titles == ["Several"]
    assert ("description", "of a function") in several.metas


@rule("head.2c")
def test_head_2c_the_function_must_be_synchronous_and_take_the_data(tmp_path: Path) -> None:
    wrong = {
        "a": "async def HEAD(data):\n        return ''",
        "b": "def HEAD():\n        return ''",
        "c": "def HEAD(data, more):\n        return ''",
    }
    found = problems_of(tmp_path, wrong)
    assert [line.partition(":")[0] for line in found] == [f"pages/{name}.fxl" for name in wrong]


@rule("head.3", "head.3b")
def test_head_3_the_last_of_layout_and_page_wins_and_nothing_is_there_twice(
    responses: Responses,
) -> None:
    both = head_of(responses["/head/both"])
    assert both.titles == ["Head of the page"]
    assert sorted(both.metas) == [
        ("author", "HEAD of the page"),
        ("keywords", "Head of the page"),
        ("robots", "HEAD of the layout"),
    ]
    assert both.canonical == ["/layout"]


@rule("head.3b")
def test_head_3b_the_components_of_a_layout_win_over_its_own_values_only(
    responses: Responses,
) -> None:
    plain = head_of(responses["/head/plain"])
    assert plain.titles == ["HEAD of the layout"]
    assert sorted(plain.metas) == [
        ("author", "Head of the layout"),
        ("robots", "HEAD of the layout"),
    ]
    static = head_of(responses["/head/static"])
    assert static.titles == ["HEAD of the page & more"]
    assert ("author", "Head of the layout") in static.metas
