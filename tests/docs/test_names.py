"""Names in code say what they hold (`tests.docs.words.NAMES`), those of tests what happens."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.pages import ROOT, name
from tests.docs.words import find, names_of_module, names_of_script, vague_words

PYTHON = ("benchmarks", "docs", "editors", "examples", "fx", "fxtrio", "tests")
SCRIPTS = ("docs", "editors", "fxtrio", "tests")
SCRIPT_SUFFIXES = {".cjs", ".js", ".jsx", ".mjs"}
OTHERS = {"node_modules", "dist"}

ALLOWED = {
    ("fxtrio/db/errors.py", "IsolationTooLate"): "of the public API",
    ("fxtrio/jobs/store.py", "made"): "a column of the table of jobs",
}


def files(folders: tuple[str, ...], suffixes: set[str]) -> Iterator[Path]:
    for folder in folders:
        for path in (ROOT / folder).rglob("*.*"):
            parts = path.relative_to(ROOT).parts
            hidden = any(part.startswith(".") for part in parts)  # caches, builds, environments
            if path.suffix in suffixes and not hidden and OTHERS.isdisjoint(parts):
                yield path


def vague(path: Path, names: Iterator[tuple[int, str]]) -> list[str]:
    return [
        f"{name(path)}:{line}: {one}"
        for line, one in names
        if vague_words(one) and (name(path), one) not in ALLOWED
    ]


def test_names_in_python_say_what_they_hold() -> None:
    found = [
        one
        for path in files(PYTHON, {".py"})
        for one in vague(path, names_of_module(path.read_text("utf-8")))
    ]

    assert found == []


def test_names_of_tests_have_the_words_of_the_documentation() -> None:
    found = [
        str(word)
        for path in files(("tests",), {".py"})
        for line, one in names_of_module(path.read_text("utf-8"))
        if one.startswith("test_")
        for word in find(f"{name(path)}:{line}", one.removeprefix("test_").replace("_", " "))
    ]

    assert found == []


def test_names_in_scripts_and_their_tests_do_too() -> None:
    scripts = list(files(SCRIPTS, SCRIPT_SUFFIXES))
    found = [
        one for path in scripts for one in vague(path, names_of_script(path.read_text("utf-8")))
    ]

    assert len(scripts) > 200
    assert found == []


@pytest.mark.parametrize(("file", "allowed"), ALLOWED)
def test_what_is_allowed_is_there(file: str, allowed: str) -> None:
    names = names_of_module((ROOT / file).read_text("utf-8"))

    assert allowed in {one for _, one in names}


@pytest.mark.parametrize("text", ["told", "TOLD", "_shown", "toldAgain", "wait_asked", "lateParts"])
def test_a_vague_name_is_found(text: str) -> None:
    assert len(vague_words(text)) == 1


@pytest.mark.parametrize("text", ["plate", "translate", "agone", "latest", "forgiven"])
def test_a_word_that_contains_one_is_not(text: str) -> None:
    assert vague_words(text) == set()


def test_names_of_a_script_are_what_it_declares() -> None:
    text = """
        const first = 'made'; // told
        let { second, key: third } = call(`gone`, other.given);
        function fourth(fifth, { sixth }) {}
        list.map(([seventh]) => asked).filter((eighth) => eighth.shown);
    """

    assert [one for _, one in names_of_script(text)] == [
        *("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")
    ]
