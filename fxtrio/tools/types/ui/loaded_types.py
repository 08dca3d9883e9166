"""What `useLoader` returns for each path of the app, as types. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from fxtrio.tools.types.gather.page_types import PageTypes
from fxtrio.tools.types.python.shapes import Definition
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
    declared = printer.definitions(definitions.values(), prefix="export ")
    data = "".join(f"  {number}: {printer.type(page.data)};\n" for number, page in routed.items())
    return f"""import type {{ At }} from "fx/paths";
{declared}interface $Pages {{
{data}}}
type $Of<Page> = Page extends keyof $Pages ? $Pages[Page] : any;
type $At<Page> = [Page] extends [never] ? any : $Of<Page>;
export type LoadedAt<Path extends string> = Path extends string ? $At<At<Path>> : never;
"""
