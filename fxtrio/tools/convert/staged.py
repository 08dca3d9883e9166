"""A conversion as `fx check` would find it: in a folder of its own, while the project stays."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fxtrio.temporary_folders import open_temporary_folder
from fxtrio.tools.convert.conversion import Conversion, project_files

_READ = frozenset(
    {
        *(".py", ".fxl", ".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs", ".mts", ".cts"),
        *(".json", ".css", ".sql", ".html", ".md", ".mdx"),
    }
)
"""How files end that a check reads; of others it matters only that they are there."""


@contextmanager
def staged(conversion: Conversion) -> Iterator[Path]:
    """Yield a folder with the project as it will be, for as long as the block lasts."""
    root = conversion.root
    moved = {file.before for file in conversion.changes() if file.before} | {*conversion.removed}
    with open_temporary_folder("fxtrio-convert-") as unresolved:
        folder = unresolved.resolve()
        for path in project_files(root):
            if path not in moved and path not in conversion.files:
                _place(root / path, folder / path)
        for file in conversion.files.values():
            target = folder / file.path
            if file.text is None:
                _place(root / file.before, target)
            else:
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_text(file.text, encoding="utf-8", errors="surrogatepass")
        if (root / "node_modules").is_dir():
            (folder / "node_modules").symlink_to(root / "node_modules")
        yield folder


def _place(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.suffix in _READ:
        shutil.copyfile(source, target)
    else:
        target.symlink_to(source)
