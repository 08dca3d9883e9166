"""Forms: the action that one calls, and the names of its fields. Pure.

TypeScript cannot see which form a control stands in; here it is looked up.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence

from fxtrio.compile.check.problem_kinds import FindingKind
from fxtrio.compile.problems import Problem
from fxtrio.routes.router import Router
from fxtrio.tools.types.gather.page_types import ActionTypes, PageTypes, ProjectTypes
from fxtrio.tools.types.ui.source.jsx_positions import Element
from fxtrio.tools.types.ui.virtual_project import UiHalf

_CONTROLS = frozenset({"input", "select", "textarea"})
_FROM_CLIENT = re.compile(r"import\s*+\{([^{}]*+)\}\s*+from\s*+['\"]fx/client['\"]")


def form_problems(half: UiHalf, types: ProjectTypes) -> Iterator[Problem]:
    """Yield forms whose action is not there, and controls that no action reads."""
    if half.types.kind != "page" or not _imports_form(half.page.ui):
        return
    forms = {one.offset: one for one in half.places.elements if one.name == "Form"}
    actions: dict[int, ActionTypes] = {}
    for offset, form in forms.items():
        named = form.attribute("action")
        if form.spreads or _goes_to_page(form) or named is None or named.value is None:
            continue
        found = _actions_of(form, named.value, half, types)
        if found is None:
            continue
        owner, known = found
        action = next((one for one in known if one.name == named.value), None)
        if action is not None:
            actions[offset] = action
            continue
        names = [one.name for one in known]
        listed = f"It has {', '.join(names)}" if names else "Define it with @action"
        message = f"{owner} has no action '{named.value}'"
        remedy = similar(named.value, names) or listed
        place = half.places.source.place_of(named.value_offset - 1)
        yield Problem(half.source, *place, message, remedy, kind=FindingKind.UI)
    for element in half.places.elements:
        inner = [actions[offset] for offset in element.inside if offset in actions]
        around = [offset for offset in element.inside if offset in forms]
        if element.name in _CONTROLS and inner and around[-1] in actions:
            yield from _control_problems(half, element, actions[around[-1]])


def _actions_of(
    form: Element, name: str, half: UiHalf, types: ProjectTypes
) -> tuple[str, Sequence[ActionTypes]] | None:
    """Return what has a form's action, and all actions there; None when that is not known."""
    if "." in name:
        return "the folder 'actions'", [one for module in types.shared for one in module.actions]
    elsewhere = form.attribute("page")
    if elsewhere is None:
        return "this page", half.types.actions
    page = page_at(elsewhere.value, types) if elsewhere.value is not None else None
    return None if page is None else (elsewhere.value or "", page.actions)


def page_at(path: str, types: ProjectTypes) -> PageTypes | None:
    """Return the page that answers a path; None when none does."""
    router = Router((page.pattern, page) for page in types.pages if page.pattern)
    found = router.match(re.split(r"[?#]", path)[0])
    return None if found is None else found[0]


def _imports_form(text: str) -> bool:
    if "Form" not in text:  # as in most halves
        return False
    names = [name.strip() for one in _FROM_CLIENT.findall(text) for name in one.split(",")]
    return "Form" in names


def _goes_to_page(form: Element) -> bool:
    method = form.attribute("method")
    return method is not None and (method.value or "").lower() != "post"


def _control_problems(half: UiHalf, element: Element, action: ActionTypes) -> Iterator[Problem]:
    named = element.attribute("name")
    if named is None or not named.value or action.argument is None or not action.controls:
        return
    first = re.split(r"[.\[]", named.value)[0]
    names = action.controls
    if first in names or first.startswith("_"):
        return
    message = f"the action '{action.name}' has no field '{named.value}'"
    remedy = similar(first, names) or (f"It has {', '.join(names)}" if names else "It has none")
    place = half.places.source.place_of(named.value_offset)
    yield Problem(half.source, *place, message, remedy, kind=FindingKind.TYPES)


def similar(name: str, known: Sequence[str]) -> str:
    """Return a question for the name that may be meant; "" when none is like it."""
    near = difflib.get_close_matches(name, known, n=1)
    return f"Did you mean '{near[0]}'?" if near else ""
