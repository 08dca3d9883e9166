"""Actions as types: what each takes and gives, and `useAction` for them. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable

from fxtrio.tools.types.gather.page_types import ActionTypes
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
