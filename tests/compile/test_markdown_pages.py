"""Markdown files of the pages folder: what the compiler makes of them, and when again."""

from __future__ import annotations

from pathlib import Path

import pytest

from fx.testing import open_app
from fxtrio.compile import markdown_pages
from fxtrio.compile.project import CheckedTexts, check_project
from fxtrio.config import Config, load_config
from tests.trees import PAGE, write_tree

INTRO = """
---
title: Introduction
description: How to begin.
---

# Begin

See [forms](guide/forms.md#send).

```python file="code/load.py"
```
"""
FILES = {
    "pages/docs/intro.md": INTRO,
    "pages/docs/guide/forms.md": "# Forms\n",
    "code/load.py": "x = 1\n",
}
MODEL = """
from dataclasses import dataclass

@dataclass
class FrontMatter:
    title: str
    description: str = ""
"""


def problems(root: Path, memory: CheckedTexts | None = None) -> list[str]:
    return [str(one) for one in check_project(root, load_config(root), memory).problems]


def test_a_markdown_page_about_suspense_is_no_stream(tmp_path: Path) -> None:
    files = {"pages/index.md": "# Suspense\n\n`<Suspense>` waits.\n"}

    [page] = check_project(write_tree(tmp_path, files), Config()).pages

    assert not page.suspends


def test_a_markdown_page_has_head_elements_and_no_server_half(tmp_path: Path) -> None:
    project = check_project(write_tree(tmp_path, FILES), Config())

    [forms, intro] = project.pages
    assert not project.problems
    assert [page.pattern for page in project.tree.pages] == ["/docs/intro", "/docs/guide/forms"]
    assert intro.module.code is None
    assert intro.module.head == (
        ["title", {}, "Introduction"],
        ["meta", {"name": "description", "content": "How to begin."}, ""],
    )
    assert forms.module.head == (["title", {}, "Forms"],)
    assert '<Link href={"/docs/guide/forms#send"}>' in intro.ui
    assert intro.markdown.startswith("# Begin\n\nSee [forms](/docs/guide/forms#send).")


def test_mistakes_have_the_places_of_the_file(tmp_path: Path) -> None:
    text = "---\ntitle: A\n---\n\n[x](gone.md)\n[y](../data.csv)\n[z](../../../x.md)\n"
    write_tree(tmp_path, {"pages/a/b.md": text, "pages/data.csv": "", "pages/index.fxl": PAGE})

    assert problems(tmp_path) == [
        "pages/a/b.md:5:1: '../../../x.md' is outside of the project. Move the file into it.",
        "pages/a/b.md:5:1: '../data.csv' leads to a file that is not a page. "
        "Put it into the public folder, or write the URL of a page.",
        "pages/a/b.md:5:1: 'gone.md' leads to no file. Add pages/a/gone.md, or correct the path.",
    ]


def test_without_the_extra_a_markdown_page_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(markdown_pages, "_NEEDED", ("a_package_that_is_not_there",))
    write_tree(tmp_path, {"pages/a.md": "# A\n"})

    assert problems(tmp_path) == [
        "pages/a.md:1:1: pages in Markdown need the extra 'content'. "
        "Run \"pip install 'fxtrio[content]'\"."
    ]


def test_a_page_is_checked_again_when_another_file_of_it_has_changed(tmp_path: Path) -> None:
    write_tree(tmp_path, FILES)
    memory = CheckedTexts()
    before = check_project(tmp_path, Config(), memory)
    same = check_project(tmp_path, Config(), memory)

    (tmp_path / "code/load.py").write_text("y = 22\n")
    after = check_project(tmp_path, Config(), memory)
    (tmp_path / "pages/docs/guide/forms.md").unlink()

    assert all(one is other for one, other in zip(before.pages, same.pages, strict=True))
    assert "y = 22" in after.pages[1].markdown
    assert problems(tmp_path, memory) == [
        "pages/docs/intro.md:8:1: 'guide/forms.md#send' leads to no file. "
        "Add pages/docs/guide/forms.md, or correct the path."
    ]


async def test_front_matter_is_checked_by_the_nearest_model_when_the_app_starts(
    tmp_path: Path,
) -> None:
    files = {**FILES, "pages/(site)/content.py": MODEL, "pages/(site)/x.md": "---\ntitel: A\n---\n"}
    write_tree(tmp_path, {**files, "pages/docs/content.py": MODEL})
    forms = tmp_path / "pages/docs/guide/forms.md"
    forms.write_text("---\ntitle: Forms\n---\n")

    with pytest.raises(Exception, match="titel") as caught:
        async with open_app(tmp_path):
            pass
    (tmp_path / "pages/(site)/x.md").write_text("---\ntitle: X\n---\n")
    async with open_app(tmp_path) as app:
        assert (await app.get("/x")).status == 200

    lines = str(caught.value).splitlines()
    assert [line.partition("x.md")[2] for line in lines] == [
        ":1: 'title': Field required. Change it, or the class FrontMatter.",
        ":2: 'titel' is not a field. Did you mean 'title'?",
    ]


async def test_agents_get_the_markdown_without_front_matter_and_with_the_code(
    tmp_path: Path,
) -> None:
    async with open_app(write_tree(tmp_path, FILES), llms=True) as app:
        text = (await app.get("/docs/intro.md")).text

    assert text == ("# Begin\n\nSee [forms](/docs/guide/forms#send).\n\n```python\nx = 1\n```\n")
