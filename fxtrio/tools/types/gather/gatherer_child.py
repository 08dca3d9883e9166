"""The task of the process that imports a project for its types: see `project_process`."""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from fxtrio.compile.project import CheckedProject
from fxtrio.imports import Imports
from fxtrio.tools.project_process.child import Write
from fxtrio.tools.types.gather.gather import Namespaces, gather
from fxtrio.tools.types.gather.page_types import dump_types


def answer(order: bytes, write: Write) -> None:
    """Import a project, and write its types as `dump_types` gives them.

    ``order`` is pickled: the project's folder, and its files.
    """
    wanted: tuple[Path, CheckedProject] = pickle.loads(order)
    root, project = wanted
    write(dump_types(gather(root, project, import_pages(root, project))))


def import_pages(root: Path, project: CheckedProject) -> Namespaces:
    """Return the names of all page files and modules of actions that can be imported.

    What the others raise is for `fx check` to report.
    """
    imports = Imports(root, root)
    found = {}
    loads: dict[str, Callable[[], Mapping[str, Any]]] = {
        page.module.source: partial(imports.page, page.module, page.python.encode())
        for page in project.pages
        if page.module.code is not None and page.whole
    }
    loads |= {one.source: partial(imports.file, one.source) for one in project.actions}
    for source, load in loads.items():
        try:
            found[source] = load()
        except (Exception, SystemExit) as error:  # application code
            print(f"{source}: {error}", file=sys.stderr)
    return found
