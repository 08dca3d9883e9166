"""What the process does that imports a project for its types (`gatherer_main`).

It takes a pickled `TypesOrder` on standard input and writes what `dump_types` gives to standard
output. What the project prints goes to standard error. Nothing is opened or served.
"""

from __future__ import annotations

import os
import pickle
import sys
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

import attrs

from fxtrio.compile.project import CheckedProject
from fxtrio.imports import Imports
from fxtrio.tools.types.gather.gather import Namespaces, gather
from fxtrio.tools.types.gather.page_types import dump_types


@attrs.frozen
class TypesOrder:
    """Whose types are asked for."""

    root: Path
    project: CheckedProject


def answer_order() -> None:
    """Import what the order says, and write its types."""
    order: TypesOrder = pickle.loads(sys.stdin.buffer.read())
    told = os.dup(1)
    write_types(order, told)


def write_types(order: TypesOrder, told: int) -> NoReturn:
    """Write the types of an order to the descriptor ``told``, and end the process."""
    os.dup2(2, 1)  # what the project prints is no answer
    types = gather(order.root, order.project, import_pages(order.root, order.project))
    with os.fdopen(told, "wb") as answer:
        answer.write(dump_types(types))
    os._exit(0)  # whatever threads the project has left behind


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
