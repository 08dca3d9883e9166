"""Writes the pictures of the documentation: ``python -m tests.docs.draw``."""

from __future__ import annotations

from tests.docs.draw.pictures import PICTURES
from tests.docs.pages import DOCS


def main() -> None:
    for name, draw in PICTURES.items():
        (DOCS / "pictures" / f"{name}.svg").write_text(draw().svg(), "utf-8")


if __name__ == "__main__":
    main()
