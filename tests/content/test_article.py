"""Markdown in, an article out: HTML, headings, code of other files, links, mistakes."""

from __future__ import annotations

import pytest

from fxtrio.content.article import Article, read_article
from fxtrio.content.included import NotIncluded

CODE = """# region load
async def load(request):
    # region inner
    return {}
    # endregion
# endregion
x = 1
"""


def article(text: str) -> Article:
    def read(file: str) -> str:
        if file == "bytes":
            raise UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid")
        if file != "code.py":
            raise FileNotFoundError(2, "No such file or directory")
        return CODE

    def locate(path: str, is_image: bool) -> str:
        if not path.startswith("docs/"):
            raise NotIncluded("leads out", "Correct it")
        return path if is_image else f"/{path.removesuffix('.md')}"

    return read_article(text, "docs/page.md", read=read, locate=locate)


def mistakes(text: str) -> list[tuple[int, str]]:
    return [(one.line, one.message) for one in article(text).mistakes]


def test_headings_have_ids_and_links_to_themselves() -> None:
    found = article("# Top\n\n## Load `x`\n\n### Load x\n\n## Load x\n")

    assert [(one.level, one.id, one.text) for one in found.headings] == [
        (1, "", "Top"),
        (2, "load-x", "Load x"),
        (3, "load-x-1", "Load x"),
        (2, "load-x-2", "Load x"),
    ]
    assert '<h2 id="load-x-2">Load x <a class="header-anchor" href="#load-x-2">#</a></h2>' in (
        found.html
    )


def test_the_title_is_that_of_the_front_matter_or_of_the_first_heading() -> None:
    assert article("---\ntitle: A\n---\n# B\n").title == "A"
    assert article("# B\n").title == "B"
    assert article("text\n").title == ""


def test_toc_is_a_list_of_headings_of_two_levels() -> None:
    found = article("<Toc />\n\n### Early\n\n## One\n\n### Two\n\n#### Deep\n\n## Three\n")

    assert found.html.startswith(
        '<nav class="toc" aria-label="On this page"><ul><li><a href="#early">Early</a></li>'
        '<li><a href="#one">One</a><ul><li><a href="#two">Two</a></li></ul></li>'
        '<li><a href="#three">Three</a></li></ul></nav>'
    )
    assert "Toc" not in found.markdown


@pytest.mark.parametrize(
    ("settings", "code"),
    [
        ('file="code.py"', "async def load(request):\n    return {}\nx = 1\n"),
        ('file="./code.py" region="load"', "async def load(request):\n    return {}\n"),
        ('file="code.py" region="inner"', "return {}\n"),
        ('file="code.py" lines="7"', "x = 1\n"),
        ('file="code.py" lines="2-4"', "async def load(request):\n    return {}\n"),
    ],
)
def test_a_block_shows_code_of_a_file_to_people_and_agents(settings: str, code: str) -> None:
    found = article(f"Text.\n\n- item\n\n  ```text {settings}\n  ```\n\nMore.\n")

    assert found.tree.text.replace("\n", "").endswith(f"item{code}More.".replace("\n", ""))
    inner = "".join(f"  {line}" for line in code.splitlines(keepends=True))
    assert found.markdown == f"Text.\n\n- item\n\n  ```text\n{inner}  ```\n\nMore.\n"
    assert found.included == ("code.py",)


@pytest.mark.parametrize(
    ("settings", "cause"),
    [
        ('file="gone.py"', "gone.py cannot be read: No such file or directory"),
        ('file="bytes"', "bytes is not text in UTF-8"),
        ('file="../x"', "'../x' is not a file of the project"),
        ('file="/etc/passwd"', "'/etc/passwd' is not a file of the project"),
        ('file="code.py" region="other"', "code.py has no region 'other'"),
        ('file="code.py" lines="7-9"', "code.py has no lines '7-9'"),
        ('file="code.py" lines="2-1"', "code.py has no lines '2-1'"),
    ],
)
def test_code_that_is_not_there_is_a_mistake_with_its_line(settings: str, cause: str) -> None:
    assert mistakes(f"---\na: 1\n---\n\n```python {settings}\n```\n") == [(5, cause)]


def test_code_of_a_block_and_of_a_file_exclude_each_other() -> None:
    text = '```python file="code.py"\nx\n```\n'

    assert mistakes(text) == [(1, "the block that includes code.py also contains code")]


def test_known_languages_are_highlighted_and_others_are_text() -> None:
    html = article("```python\nx = 1\n```\n\n```nothing\na < b\n```\n").html

    assert '<code class="language-python">x <span class="o">' in html
    assert '<code class="language-nothing">a &lt; b\n</code>' in html


@pytest.mark.parametrize("info", ["fxl", "jsx pages/index.fxl"])
def test_each_half_of_a_page_file_is_highlighted_in_its_language(info: str) -> None:
    code = 'async def load(): ...\n\n\nimport { Link } from "fx/client";\n'

    html = article(f"```{info}\n{code}```\n").html

    assert '<span class="k">async</span>' in html
    assert '<span class="kr">from</span>' in html  # "kn" in Python


def test_headers_of_a_table_say_something() -> None:
    """Screen readers announce a header that is empty with each cell below it."""
    some = article("| | Price |\n|---|---|\n| Tea | 2 |\n").html
    none = article("| | |\n|---|---|\n| Tea | 2 |\n").html

    assert "<td></td>" in some
    assert "<th>Price</th>" in some
    assert "<th" not in none
    assert "<td>Tea</td>" in none


def test_relative_links_lead_to_pages_and_others_stay() -> None:
    text = "[a](other.md?x=1#y) [b](/abs) [c](https://a.test/x.md) [d](#here) [e](../up.md)\n"

    found = article(text)

    assert 'href="/docs/other?x=1#y"' in found.html
    assert found.markdown.startswith("[a](/docs/other?x=1#y) [b](/abs) [c](https://a.test/x.md)")
    assert [one.message for one in found.mistakes] == ["'../up.md' leads out"]


@pytest.mark.parametrize(
    ("html", "cause"),
    [
        ("<script>a()</script>", "'<script' is not for Markdown"),
        ("<style>p {}</style>", "'<style' is not for Markdown"),
        ('<p OnClick="a()">x</p>', "'onclick=' is not for Markdown"),
        ("<div>" * 200, "its HTML is nested too deeply"),
    ],
)
def test_html_that_browsers_run_is_rejected(html: str, cause: str) -> None:
    line = 1 if "nested" in cause else 3
    assert mistakes(f"Text.\n\n{html}\n") == [(line, cause)]


def test_html_that_is_not_well_formed_comes_out_well_formed() -> None:
    found = article("<details><summary>More</summary>\n\n**x** </b> <kbd>A\n\n</details>\n")

    assert found.html.count("<kbd>") == found.html.count("</kbd>") == 1
    assert "</b>" not in found.html
    assert not found.mistakes


def test_tables_of_mdurl_are_full_before_a_thread_may_read_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """They are filled character by character at their first use, in place."""
    encoding: dict[str, list[str]] = {}
    decoding: dict[str, list[str]] = {}
    monkeypatch.setattr("mdurl._encode.encode_cache", encoding)
    monkeypatch.setattr("mdurl._decode.decode_cache", decoding)

    article("Text without a link.\n")

    assert [len(table) for table in (*encoding.values(), *decoding.values())] == [128, 128]
