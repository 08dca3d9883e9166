"""What the pages for contributors name exists. `test_arrows` compares the map's pictures."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from tests.docs.pages import DOCS, ROOT
from tests.source_tree import MODULES, own_files, pictures_of_the_map

MAP = DOCS / "architecture.md"
DECISIONS = sorted(DOCS.glob("decisions/0*.md"))
FOR_CONTRIBUTORS = [MAP, ROOT / "CONTRIBUTING.md"]

_CODE = re.compile(r"`([^`\n]+)`")
_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_PATH = re.compile(r"(?:[\w.-]+/)+[\w.*-]*|[\w-]+\.(?:md|py|toml)")
_CLASS = re.compile(r"[A-Z]\w*[a-z]\w*")
_DOTTED = re.compile(r"(?:fxtrio|fx|tests)(?:\.\w+)+")
_CREATED_LATER = (".fx/", ".nox/", ".venv/", "/api/", "fx/client", "pages/")
"""What looks like a path of the repository and is none."""


def named(document: Path) -> list[str]:
    """Return what stands in backquotes in the prose of a page."""
    return _CODE.findall(_FENCE.sub("", document.read_text(encoding="utf-8")))


def defined() -> set[str]:
    """Return the names at the top of the package's modules."""
    found: set[str] = set()
    for file in MODULES.values():
        for node in ast.parse(file.read_text(encoding="utf-8")).body:
            if isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
                found.add(node.name)
    return found


@pytest.mark.parametrize("document", [*FOR_CONTRIBUTORS, *DECISIONS], ids=lambda file: file.name)
def test_paths_lead_to_files(document: Path) -> None:
    paths = [
        name
        for name in named(document)
        if _PATH.fullmatch(name) and not name.startswith(_CREATED_LATER)
    ]

    assert paths or document in DECISIONS
    assert [path for path in paths if not (ROOT / path).exists()] == []


@pytest.mark.parametrize("document", FOR_CONTRIBUTORS, ids=lambda file: file.name)
def test_classes_and_modules_exist(document: Path) -> None:
    known = defined()
    classes = [name for name in named(document) if _CLASS.fullmatch(name) and name not in known]
    modules = [
        name
        for name in named(document)
        if _DOTTED.fullmatch(name)
        and name not in MODULES
        and not (ROOT / name.replace(".", "/")).with_suffix(".py").exists()
    ]

    assert classes == []
    assert modules == []


def test_functions_are_in_a_file_of_their_line() -> None:
    wrong = []
    for line in MAP.read_text(encoding="utf-8").splitlines():
        names = _CODE.findall(line)
        texts = [
            (ROOT / name).read_text(encoding="utf-8")
            for name in names
            if _PATH.fullmatch(name) and (ROOT / name).is_file()
        ]
        wrong += [
            name
            for name in names
            if texts
            and (_CLASS.fullmatch(name) or re.fullmatch(r"[a-z]+(?:_[a-z]+)+", name))
            and not any(re.search(rf"\b{name}\b", text) for text in texts)
        ]

    assert wrong == []


def test_each_part_says_in_its_docstring_with_which_file_to_begin() -> None:
    lines = [line for picture in pictures_of_the_map() for floor in picture for line in floor]
    wrong = []
    for _, file in lines:
        inside = file.parent / "__init__.py"
        if file.parent.name in ("fxtrio", "serve") or file == inside or file.name == "__init__.py":
            continue
        text = ast.get_docstring(ast.parse(inside.read_text(encoding="utf-8"))) or ""
        if f"Begin with `{file.stem}`" not in text:
            wrong.append(inside.relative_to(ROOT).as_posix())

    assert wrong == []


def test_every_decision_is_listed_and_has_its_sections() -> None:
    listed = set(re.findall(r"\]\((\d{4}-[\w-]+\.md)\)", (DOCS / "decisions/index.md").read_text()))
    sections = ["## Context", "## Decision", "## Consequences", "## Measured"]
    lacking = [
        file.name
        for file in DECISIONS
        if [one for one in file.read_text().splitlines() if one.startswith("## ")] != sections
    ]

    assert listed == {file.name for file in DECISIONS}
    assert lacking == []


def test_no_two_decisions_have_one_number() -> None:
    numbers = [int(file.name[:4]) for file in DECISIONS]
    titles = [int(file.read_text().removeprefix("# ").partition(".")[0]) for file in DECISIONS]

    assert len(set(numbers)) == len(numbers)
    assert titles == numbers


@pytest.mark.parametrize(
    ("change", "folders", "sign", "elsewhere"),
    [
        (
            "A timeout of single routes",
            ("fxtrio",),
            r"(?<!`)\btimeouts\.(?:request|loader|action|render|shell)\b(?!`)",
            (),
        ),
        (
            "`Retry-After`",
            ("fxtrio/serve", "fxtrio/plugins"),
            r"(?i)retry[_-]after",
            (),
        ),
        (
            "Another UI library in the render worker",
            ("fxtrio/js", "fxtrio/tools/types", "fxtrio/tools/convert", "fxtrio/starter"),
            r"""['"](?:@types/|@vitejs/plugin-)?react(?:-dom)?(?:/[a-z.-]+)?['"]"""
            r"""|@react-refresh|\bReactNode\b|['"]react-jsx['"]""",
            ("fxtrio/js/client/", "fxtrio/js/tests/", "fxtrio/js/package-lock.json"),
        ),
    ],
)
def test_a_change_names_every_place(
    change: str, folders: tuple[str, ...], sign: str, elsewhere: tuple[str, ...]
) -> None:
    """What has a sign of it in its code, apart from comments of Python, stands in its line."""
    (entry,) = re.findall(
        rf"^- \*\*{re.escape(change)}\*\*.*(?:\n  .*)*", MAP.read_text("utf-8"), re.MULTILINE
    )
    places = {
        name
        for folder in folders
        for file in own_files(folder)
        if (name := file.relative_to(ROOT).as_posix())
        and file.suffix in {".py", ".js", ".mjs", ".cjs", ".ts", ".json"}
        and not name.startswith(elsewhere)
        and _speaks(file, sign)
    }

    assert sorted(places - set(_CODE.findall(entry))) == []


def _speaks(file: Path, sign: str) -> bool:
    """Return whether a file has the sign in its code; in Python, strings of words are prose."""
    source = text = file.read_text(encoding="utf-8")
    if file.suffix == ".py" and re.search(sign, text):
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
                text = text.replace(ast.get_source_segment(source, node) or node.value, '""')
    return re.search(sign, text) is not None
