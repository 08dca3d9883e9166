"""The task of the process that imports a project for its types: see `project_process`."""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import attrs

from fxtrio.compile.project import CheckedProject
from fxtrio.imports import Imports
from fxtrio.tools.project_process.child import Write
from fxtrio.tools.types.gather.gather import Namespaces, gather
from fxtrio.tools.types.gather.page_types import dump_types


@attrs.frozen
class TypesOrder:
    """The files to read types of."""

    root: Path
    project: CheckedProject


def answer(order: bytes, write: Write) -> None:
    """Import what a pickled `TypesOrder` says, and write its types as `dump_types` gives them."""
    wanted: TypesOrder = pickle.loads(order)
    pages = import_pages(wanted.root, wanted.project)
    write(dump_types(gather(wanted.root, wanted.project, pages)))


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
