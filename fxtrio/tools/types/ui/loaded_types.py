"""What `useLoader` returns for each path of the app, as types. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from fxtrio.tools.types.gather.page_types import PageTypes
from fxtrio.tools.types.python.shapes import Definition
from fxtrio.tools.types.ui.path_lookup import lookup_types
from fxtrio.tools.types.ui.typescript import Printer


def loaded_module(pages: Sequence[PageTypes], *, loose: bool) -> str:
    """Return the declarations of the data of all pages, by their paths.

    Without pages the data of every path is unknown.
    """
    routed = {number: page for number, page in enumerate(pages) if page.pattern}
    definitions: dict[str, Definition] = {}
    for page in routed.values():
        definitions.update((one.name, one) for one in page.definitions)
    printer = Printer.of(definitions.values(), loose=loose)
    names = {number: f"$Of{number}" for number in routed}
    declared = [
        printer.definitions(definitions.values(), prefix="export "),
        *(f"type $Of{number} = {printer.type(page.data)};" for number, page in routed.items()),
        *lookup_types(pages, names, none="{}", otherwise="any"),
    ]
    own = "\n".join(declared)
    return f"""import type {{ NoSegment, PathOf }} from "fx/shared";
{own}
export type LoadedAt<Path extends string> =
  string extends Path ? any : $Page0<PathOf<Path>>;
"""
