"""One project of all pages there are: the corpus, the examples, the starter, the documentation.

Each part has a folder of its own below ``pages``. What its pages link to and import from beside
that folder is elsewhere now, so there are mistakes that the part itself does not have.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from tests.docs.pages import ROOT
from tests.docs.projects import write_all
from tests.docs.test_examples import PROJECTS
from tests.types.projects import write_project

SHIPPED = [*sorted((ROOT / "examples").iterdir()), ROOT / "fxtrio" / "starter" / "base"]
_LEFT = shutil.ignore_patterns(".fx", "__pycache__", "fx.config.json", "data", "*.db*")


def write_everything(root: Path) -> list[Path]:
    """Write the project; returns its page files."""
    write_project("mistakes.txt", root)
    (root / "fx.config.json").write_text("{}")  # a project of its own, whatever is above it
    with tempfile.TemporaryDirectory() as folder:
        plain = Path(folder, "plain")
        plain.mkdir()
        write_project("plain.txt", plain)
        written = [plain]
        for document in PROJECTS:
            written.append(Path(folder, f"doc-{document.stem}"))
            write_all(written[-1], document)
        for project in (*written, *SHIPPED):
            _take(project, root)
    return sorted(root.rglob("*.fxl"))


def _take(project: Path, root: Path) -> None:
    """Copy a project into another one; of two files with one name the first stays."""
    for source in sorted(project.iterdir()):
        target = root / "pages" / project.name if source.name == "pages" else root / source.name
        if source.is_dir():
            shutil.copytree(source, target, ignore=_LEFT, dirs_exist_ok=True)
        elif not target.exists() and source.name != "fx.config.json":
            shutil.copy2(source, target)
