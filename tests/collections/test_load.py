"""Folders of Markdown files: entries, models, links between them, and what is read again."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import attrs
import pytest
from PIL import Image
from pydantic import BaseModel, ConfigDict

from fx import content
from fx.testing import open_app
from tests.trees import write_tree


@dataclass
class Post:
    title: str
    date: date
    draft: bool = False


@attrs.frozen
class AttrsPost:
    title: str
    date: date
    draft: bool = False


class PydanticPost(BaseModel):
    title: str
    date: date
    draft: bool = False


class OpenPost(BaseModel):
    model_config = ConfigDict(extra="allow")
    title: str


HELLO = "---\ntitle: Hello\ndate: 2024-03-01\n---\nIt **rained**. See [two](more/two.md#x).\n"
TWO = "---\ntitle: Two\ndate: 2024-04-01\ndraft: true\n---\n## X\n"
FILES = {"posts/hello.md": HELLO, "posts/more/two.md": TWO, "posts/_draft.md": "x"}


@pytest.mark.parametrize("model", [Post, AttrsPost, PydanticPost])
async def test_entries_have_instances_of_the_model(tmp_path: Path, model: Any) -> None:
    write_tree(tmp_path, FILES)

    posts = await content.load("posts", model, url="/posts/{slug}", root=tmp_path)

    assert list(posts) == ["hello", "more/two"]
    hello = posts["hello"]
    assert hello.meta == model(title="Hello", date=date(2024, 3, 1))
    assert posts["more/two"].meta.draft is True
    assert (hello.title, hello.url) == ("Hello", "/posts/hello")
    assert hello.html == (
        '<p>It <strong>rained</strong>. See <a href="/posts/more/two#x">two</a>.</p>\n'
    )
    assert hello.markdown == "It **rained**. See [two](/posts/more/two#x).\n"
    assert [one.id for one in posts["more/two"].headings] == ["x"]


async def test_without_a_model_front_matter_is_a_dict(tmp_path: Path) -> None:
    write_tree(tmp_path, {"a/x.md": "---\nn: 1\n---\n", "a/index.md": "", "a/b/index.md": ""})

    found = await content.load("a", url="/a/{slug}", root=tmp_path)

    assert [entry.url for entry in found.values()] == ["/a/b", "/a", "/a/x"]
    assert {slug: entry.meta for slug, entry in found.items()} == {
        "b": {},
        "index": {},
        "x": {"n": 1},
    }


async def test_all_mistakes_of_all_files_are_reported_with_their_lines(tmp_path: Path) -> None:
    write_tree(
        tmp_path,
        {
            "posts/a.md": "---\ntitle: 1\ntitel: x\n---\n[x](gone.md)\n",
            "posts/b.md": "---\ndate: soon\ntitle: B\n---\n![x](b.png)\n[up](../c.md)\n",
        },
    )

    with pytest.raises(content.ContentInvalid) as caught:
        await content.load("posts", Post, url="/{slug}", root=tmp_path)

    assert str(caught.value).splitlines() == [
        "posts/a.md:1: 'date': Field required. Change it, or the class Post.",
        "posts/a.md:2: 'title': Expected text. Change it, or the class Post.",
        "posts/a.md:3: 'titel' is not a field. Did you mean 'title'?",
        "posts/a.md:5: 'gone.md' leads to no file. Add posts/gone.md, or correct the path.",
        "posts/b.md:2: 'date': Expected a date in ISO 8601 form. Change it, or the class Post.",
        "posts/b.md:5: '../c.md' is outside of posts. Write a URL that begins with a slash.",
        "posts/b.md:5: 'b.png' is relative to the file, which browsers do not know. "
        "Put it into the public folder, and begin with a slash.",
    ]


async def test_unknown_names_are_mistakes_unless_the_model_takes_any(tmp_path: Path) -> None:
    write_tree(tmp_path, {"posts/a.md": "---\ntitle: A\nmore: 1\n---\n"})

    [entry] = (await content.load("posts", OpenPost, root=tmp_path)).values()
    with pytest.raises(content.ContentInvalid, match="'more' is not a field"):
        await content.load("posts", PydanticPost, root=tmp_path)

    assert entry.meta.model_extra == {"more": 1}


async def test_a_file_is_converted_again_when_it_or_what_it_needs_has_changed(
    tmp_path: Path,
) -> None:
    block = 'See [b](b.md).\n\n```text file="code.txt"\n```\n'
    write_tree(tmp_path, {"a/a.md": block, "a/b.md": "", "code.txt": "one"})
    load = content.load

    first = (await load("a", url="/{slug}", root=tmp_path))["a"]
    same = (await load("a", url="/{slug}", root=tmp_path))["a"]
    (tmp_path / "code.txt").write_text("another")
    other = (await load("a", url="/{slug}", root=tmp_path))["a"]
    (tmp_path / "a/b.md").unlink()

    assert same.headings is first.headings
    assert "one" in first.html
    assert "another" in other.html
    with pytest.raises(content.ContentInvalid, match=r"'b\.md' leads to no file"):
        await load("a", url="/{slug}", root=tmp_path)


async def test_a_folder_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="There is no such folder"):
        await content.load("posts", root=tmp_path)


async def test_a_loader_reads_the_project_and_adds_the_base_url(tmp_path: Path) -> None:
    page = """
    from fx import content

    @server
    async def load(request):
        posts = await content.load("posts", url="/posts/{slug}")
        return {"urls": [one.url for one in posts.values()], "html": posts["hello"].html}

    export default function Page({ data }) { return <p>{data.html}</p>; }
    """
    write_tree(tmp_path, {**FILES, "pages/index.fxl": page})

    async with open_app(tmp_path, base_url="/shop") as app:
        data = (await app.load_page("/shop/")).data

    assert data["urls"] == ["/posts/hello", "/posts/more/two"]
    assert 'href="/shop/posts/more/two#x"' in data["html"]


async def test_pages_that_show_images_beside_them_can_be_listed(tmp_path: Path) -> None:
    layout = """
        from fx import content

        @server
        async def load(request):
            docs = await content.load("site/docs", url="/docs/{slug}")
            return {"html": docs["a"].html, "markdown": docs["a"].markdown}

        export default function Docs({ children }) {
          return children;
        }
    """
    files = {
        "fx.config.json": '{ "pagesDir": "site" }',
        "site/docs/layout.fxl": layout,
        "site/docs/a.md": "![Two & *more*](a.png) and [![](a.png)](a.md) ![](/b.png)\n",
    }
    write_tree(tmp_path, files)
    Image.new("RGB", (1, 1)).save(tmp_path / "site/docs/a.png")

    async with open_app(tmp_path) as app:
        data = (await app.load_page("/docs/a")).layout_data

    assert data["html"] == (
        '<p>Two &amp; more and <a href="/docs/a"></a> <img src="/b.png" alt=""></p>\n'
    )
    assert data["markdown"].startswith("![Two & *more*](a.png)")


async def test_a_file_of_two_folders_has_the_links_of_each(tmp_path: Path) -> None:
    files = {"a/b/one.md": "# One\n\n[two](two.md)\n", "a/b/two.md": "# Two\n"}
    write_tree(tmp_path, files)
    outer = await content.load("a", url="/{slug}", root=tmp_path)
    inner = await content.load("a/b", url="/{slug}", root=tmp_path)
    assert 'href="/b/two"' in outer["b/one"].html
    assert 'href="/two"' in inner["one"].html


async def test_only_a_few_versions_of_a_file_are_cached(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loading = importlib.import_module("fxtrio.collections.load")  # the function hides its module
    memory = loading._Memory()
    monkeypatch.setattr(loading, "_MEMORY", memory)
    write_tree(tmp_path, {"a/one.md": "# One\n"})
    for number in range(3 * loading._MOST):
        await content.load("a", url=f"/{number}/{{slug}}", root=tmp_path)
    (forms,) = memory._known.values()
    assert len(forms) == loading._MOST
    assert ("a", f"/{3 * loading._MOST - 1}/{{slug}}", False) in forms
