"""The documentation and the messages use the field's terms (`tests.docs.words`)."""

from __future__ import annotations

import re

import pytest

from tests.docs.pages import ROOT, documents, name
from tests.docs.words import find, messages, texts_of_script

APART = "docs/reference/runtime-api.md"
"""The contract, which is quoted."""


OTHERS = {"node_modules", "tests", ".fx"}
READ = {".fxl", ".jsx", ".py", ".sql"}


def without_code(text: str) -> str:
    """Return Markdown with its fenced blocks blank."""
    return re.sub(
        r"^```.*?^```$", lambda found: "\n" * found[0].count("\n"), text, flags=re.M | re.S
    )


def test_the_documentation_uses_the_terms_of_the_field() -> None:
    pages = [*documents(), *ROOT.glob("examples/*/README.md")]
    found = [
        str(one)
        for page in pages
        if not name(page).startswith(APART)
        for one in find(name(page), without_code(page.read_text("utf-8")))
    ]

    assert found == []


def test_projects_for_readers_use_them_too() -> None:
    files = [
        path
        for folder in ("fxtrio/starter", "examples")
        for path in (ROOT / folder).rglob("*.*")
        if path.suffix in READ and OTHERS.isdisjoint(path.parts)
    ]
    found = [str(one) for file in files for one in find(name(file), file.read_text("utf-8"))]

    assert len(files) > 50
    assert found == []


def test_messages_use_the_terms_of_the_field() -> None:
    modules = [path for path in (ROOT / "fxtrio").rglob("*.py") if "starter" not in path.parts]
    found = [
        str(one)
        for module in modules
        for line, text in messages(module.read_text("utf-8"))
        for one in find(f"{name(module)}:{line}", text)
    ]

    assert found == []


def test_messages_of_scripts_use_them_too() -> None:
    scripts = [path for path in (ROOT / "fxtrio/js").rglob("*.js") if OTHERS.isdisjoint(path.parts)]
    found = [
        str(one)
        for script in scripts
        for line, text in texts_of_script(script.read_text("utf-8"))
        for one in find(f"{name(script)}:{line}", text)
    ]

    assert len(scripts) > 100
    assert found == []


@pytest.mark.parametrize(
    "text",
    [
        "The page is made anew.",
        "Who asks waits.",
        "- What is late is dropped.",
        "The request is refused.",
        "The server goes on.",
        "It is told in the log.",
        "That is no page.",
    ],
)
def test_a_word_is_found(text: str) -> None:
    assert len(list(find("page", text))) == 1


@pytest.mark.parametrize(
    "text", ["What is a loader?", "`refused`", "A stand-in for Redis.", "There is no page."]
)
def test_ordinary_words_are_not(text: str) -> None:
    assert list(find("page", text)) == []
