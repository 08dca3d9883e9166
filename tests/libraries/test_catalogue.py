"""What the documentation says of libraries is what `nox -s libraries` tries."""

from __future__ import annotations

import pytest

from tests.docs.pages import DOCS
from tests.libraries.catalogue import SITE, Library, npm_libraries, python_libraries, table

GUIDE = (DOCS / "guides/libraries.md").read_text("utf-8")


@pytest.mark.parametrize("libraries", [npm_libraries(), python_libraries()], ids=["npm", "python"])
def test_the_guide_has_the_table(libraries: list[Library]) -> None:
    assert f"\n\n{table(libraries)}\n" in GUIDE, f"write this:\n\n{table(libraries)}"


@pytest.mark.parametrize(
    ("folder", "libraries"), [("npm", npm_libraries()), ("python", python_libraries())]
)
def test_each_library_has_its_page_and_each_page_its_library(
    folder: str, libraries: list[Library]
) -> None:
    pages = {page.stem for page in (SITE / "pages" / folder).glob("*.fxl")}
    assert sorted(pages) == sorted(one.name for one in libraries)


def test_what_the_console_may_say_is_in_the_guide() -> None:
    assert all(one.note for one in npm_libraries() if one.silent)
