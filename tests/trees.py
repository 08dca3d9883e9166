"""Sample projects for tests: files as text, written below a temporary folder."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

PAGE = "export default function Page({ data }) { return <p>{data.message}</p>; }\n"
"""The UI half of a page that nobody looks at."""

LAYOUT = "export default function Layout({ children }) { return <main>{children}</main>; }\n"


def write_tree(root: Path, files: dict[str, str]) -> Path:
    """Write ``files`` (path to dedented text) below ``root`` and return it."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text).lstrip("\n"), encoding="utf-8")
    return root


def page(python: str, ui: str = PAGE) -> str:
    """Return a page file of a server half and a UI half."""
    return dedent(python).strip("\n") + "\n\n" + ui
