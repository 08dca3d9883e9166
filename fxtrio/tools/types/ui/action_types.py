"""Actions as types: what each takes and gives, and `useAction` for them. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from fxtrio.tools.types.gather.page_types import ActionTypes, PageTypes
from fxtrio.tools.types.python.shapes import Definition
from fxtrio.tools.types.ui.typescript import Printer


def known_actions(actions: Iterable[ActionTypes], printer: Printer) -> tuple[str, str]:
    """Return the type of what actions take and give, by name, and that of optional names.

    An action whose name is optional may be called without a body.
    """
    known = []
    optional = []
    for action in actions:
        payload = "any" if action.argument is None else printer.type(action.argument)
        fields = " | ".join(map(json.dumps, action.fields)) or "never"
        fields = fields if action.closed else "string"
        result = printer.type(action.result)
        if action.value is not None:  # what the values are reduced to is known where it is called
            result = f"{{ data: any }}; value: {printer.type(action.value)}"
        members = f"payload: {payload}; result: {result}; fields: {fields}"
        known.append(f"{json.dumps(action.name)}: {{ {members} }}")
        if action.optional:
            optional.append(json.dumps(action.name))
    return f"{{ {'; '.join(known)} }}", " | ".join(optional) or "never"


def action_declarations(actions: Iterable[ActionTypes], printer: Printer) -> list[str]:
    """Return ``$Actions`` and ``$Optional`` of a page or a module of actions."""
    known, optional = known_actions(actions, printer)
    return [f"export type $Actions = {known};", f"export type $Optional = {optional};"]


def elsewhere_module(pages: Sequence[PageTypes], *, loose: bool) -> str:
    """Return the declarations of what the actions of all pages take and give."""
    acting = {number: one for number, one in enumerate(pages) if one.pattern and one.actions}
    definitions: dict[str, Definition] = {}
    for page in acting.values():
        definitions.update((one.name, one) for one in page.definitions)
    printer = Printer.of(definitions.values(), loose=loose)
    declared = printer.definitions(definitions.values(), prefix="export ")
    known = "".join(f"  {number}: {_acting(page, printer)};\n" for number, page in acting.items())
    return f"""import type {{ Known }} from "fx/shared";
import type {{ At }} from "fx/paths";
type $Some = {{ actions: Record<string, Known>; optional: string }};
type $Without = {{ actions: {{}}; optional: never }};
{declared}interface $Pages {{
{known}}}
type $Of<Page> =
  Page extends keyof $Pages ? $Pages[Page] : Page extends number ? $Without : $Some;
type $At<Page> = [Page] extends [never] ? $Some : $Of<Page>;
/** The actions of the page at a path: any where there is none, which is reported by itself. */
export type ActingAt<Path extends string> = Path extends string ? $At<At<Path>> : never;
"""


def _acting(page: PageTypes, printer: Printer) -> str:
    known, optional = known_actions(page.actions, printer)
    return f"{{ actions: {known}; optional: {optional} }}"
