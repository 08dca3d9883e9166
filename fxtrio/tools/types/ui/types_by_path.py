"""What code may say of another page of the app, by the path of that page, as types. Pure.

That is the data which `useLoader` returns, and the actions which `useAction` calls.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from fxtrio.tools.types.gather.page_types import PageTypes
from fxtrio.tools.types.ui.action_types import known_actions
from fxtrio.tools.types.ui.typescript import Printer


def loaded_module(pages: Sequence[PageTypes], *, loose: bool) -> str:
    """Return the declarations of the data of all pages, by their paths.

    Without pages the data of every path is unknown.
    """
    routed = {number: page for number, page in enumerate(pages) if page.pattern}
    return f"""import type {{ At }} from "fx/paths";
{_by_number(routed, _data, loose=loose)}
type $Of<Page> = Page extends keyof $Pages ? $Pages[Page] : any;
type $At<Page> = [Page] extends [never] ? any : $Of<Page>;
export type LoadedAt<Path extends string> = Path extends string ? $At<At<Path>> : never;
"""


def elsewhere_module(pages: Sequence[PageTypes], *, loose: bool) -> str:
    """Return the declarations of what the actions of all pages take and give."""
    acting = {number: one for number, one in enumerate(pages) if one.pattern and one.actions}
    return f"""import type {{ Known }} from "fx/shared";
import type {{ At }} from "fx/paths";
type $Some = {{ actions: Record<string, Known>; optional: string }};
type $Without = {{ actions: {{}}; optional: never }};
{_by_number(acting, _actions, loose=loose)}
type $Of<Page> =
  Page extends keyof $Pages ? $Pages[Page] : Page extends number ? $Without : $Some;
type $At<Page> = [Page] extends [never] ? $Some : $Of<Page>;
/** The actions of the page at a path: any where there is none, which is reported by itself. */
export type ActingAt<Path extends string> = Path extends string ? $At<At<Path>> : never;
"""


def _by_number(
    pages: Mapping[int, PageTypes], member: Callable[[PageTypes, Printer], str], *, loose: bool
) -> str:
    """Return the interface ``$Pages``, and the types that it names.

    It has a member for each number of a page: what ``member`` prints of it.
    """
    definitions = {one.name: one for page in pages.values() for one in page.definitions}
    printer = Printer.of(definitions.values(), loose=loose)
    declared = printer.definitions(definitions.values(), prefix="export ")
    members = "".join(f"  {number}: {member(page, printer)};\n" for number, page in pages.items())
    return f"{declared}interface $Pages {{\n{members}}}"


def _data(page: PageTypes, printer: Printer) -> str:
    return printer.type(page.data)


def _actions(page: PageTypes, printer: Printer) -> str:
    known, optional = known_actions(page.actions, printer)
    return f"{{ actions: {known}; optional: {optional} }}"
