"""The random edits: each changes what the files of a project say, and names itself."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from pathlib import PurePosixPath
from random import Random

import attrs

from .project import SPECIAL, Component, Module, Project, View

Work = Callable[["Author"], str]


@attrs.define
class Author:
    """Somebody who edits a project, at random and yet the same for the same seed."""

    random: Random
    project: Project
    open: list[str]
    """The pages that browsers show: `Project.views` has them, or had them."""

    _numbers: count[int] = attrs.field(factory=lambda: count(100))

    def edit(self) -> str:
        """Make the next edit, and return what it is."""
        while True:
            work = self.random.choices(WORKS, [weight for _, weight in WORKS])[0][0]
            done = work(self)
            if done:
                return done

    def number(self) -> int:
        """Return a number that stands nowhere yet."""
        return next(self._numbers)

    def pick(self, names: list[str]) -> str:
        """Return one of the names; "" when there is none."""
        return self.random.choice(sorted(names)) if names else ""

    def view(self) -> tuple[str, View]:
        """Return a view, mostly one that somebody looks at."""
        known = [name for name in self.open if name in self.project.views]
        names = known if known and self.random.random() < 0.6 else list(self.project.views)
        name = self.pick(names)
        return name, self.project.views[name]


def ui(author: Author) -> str:
    """Edit the UI half."""
    name, view = author.view()
    view.ui = author.number()
    return f"the UI of {name}"


def data(author: Author) -> str:
    """Edit the Python half; it may get its loader first."""
    name, view = author.view()
    if name == "not-found":
        return ""
    new = view.data is None
    view.data = author.number()
    return f"{'a loader for' if new else 'the data of'} {name}"


def both(author: Author) -> str:
    """Edit both halves in one save."""
    name, view = author.view()
    if view.data is None:
        return ""
    view.ui, view.data = author.number(), author.number()
    return f"both halves of {name}"


def no_loader(author: Author) -> str:
    """Take the loader away."""
    name, view = author.view()
    if view.data is None:
        return ""
    view.data, view.modules = None, []
    return f"no loader for {name}"


def title(author: Author) -> str:
    """Change HEAD."""
    name, view = author.view()
    if name in ("layout", "not-found") or name.endswith("/layout"):
        return ""
    view.title = None if view.title and author.random.random() < 0.3 else author.number()
    return f"the title of {name}"


def action(author: Author) -> str:
    """Add an action, change it or take it away."""
    name, view = author.view()
    if PurePosixPath(name).name in SPECIAL:
        return ""
    view.acts = None if view.acts and author.random.random() < 0.3 else author.number()
    return f"the action of {name}"


def hooks(author: Author) -> str:
    """Change how many hooks a component has: it loses its state, and nothing else."""
    name, view = author.view()
    view.hooks = view.hooks % 3 + 1
    return f"the hooks of {name}"


def uses_of_view(author: Author) -> str:
    """Import something else into a page."""
    name, view = author.view()
    if author.random.random() < 0.5 and view.data is not None:
        _toggle(author, view.modules, list(author.project.modules))
    elif author.random.random() < 0.6:
        _toggle(author, view.parts, list(author.project.parts))
    else:
        _toggle(author, view.looks, list(author.project.looks))
    return f"the imports of {name}"


def module(author: Author) -> str:
    """Edit a Python module that pages use."""
    name = author.pick(list(author.project.modules))
    if name:
        author.project.modules[name].token = author.number()
    return name and f"the module {name}"


def module_uses(author: Author) -> str:
    """Let a module use another one, or no longer."""
    name = author.pick(list(author.project.modules))
    if name:
        names = list(author.project.modules)
        older = names[: names.index(name)]
        _toggle(author, author.project.modules[name].uses, older)
    return name and f"the imports of the module {name}"


def new_module(author: Author) -> str:
    """Write a module, and let a page use it in the same moment."""
    name, view = author.view()
    if view.data is None or len(author.project.modules) > 6:
        return ""
    new = f"m{author.number()}"
    author.project.modules[new] = Module(author.number())
    view.modules.append(new)
    return f"the module {new}, for {name}"


def no_module(author: Author) -> str:
    """Delete a module, and what imports it."""
    name = author.pick(list(author.project.modules))
    if len(author.project.modules) < 3:
        return ""
    _delete(author.project.modules, name, [one.modules for one in author.project.views.values()])
    return f"no module {name}"


def part(author: Author) -> str:
    """Edit a component."""
    name = author.pick(list(author.project.parts))
    author.project.parts[name].token = author.number()
    return f"the component {name}"


def part_style(author: Author) -> str:
    """Give a component a CSS module, or take it away."""
    name = author.pick(list(author.project.parts))
    found = author.project.parts[name]
    found.styled = not found.styled
    return f"the style of {name}"


def new_part(author: Author) -> str:
    """Write a component, and let a page use it."""
    name, view = author.view()
    if len(author.project.parts) > 6:
        return ""
    new = f"P{author.number()}"
    uses = [author.pick(list(author.project.parts))]
    author.project.parts[new] = Component(author.number(), uses, author.random.random() < 0.5)
    view.parts.append(new)
    return f"the component {new}, for {name}"


def rename_part(author: Author) -> str:
    """Rename a component: all that use it change in the same moment."""
    old, new = author.pick(list(author.project.parts)), f"P{author.number()}"
    author.project.parts = {
        new if name == old else name: found for name, found in author.project.parts.items()
    }
    for owner in (*author.project.parts.values(),):
        owner.uses = [new if one == old else one for one in owner.uses]
    for view in author.project.views.values():
        view.parts = [new if one == old else one for one in view.parts]
    return f"the component {old} is {new} now"


def no_part(author: Author) -> str:
    """Delete a component, and what imports it."""
    name = author.pick(list(author.project.parts))
    if len(author.project.parts) < 3:
        return ""
    _delete(author.project.parts, name, [one.parts for one in author.project.views.values()])
    return f"no component {name}"


def look(author: Author) -> str:
    """Edit a stylesheet."""
    name = author.pick(list(author.project.looks))
    author.project.looks[name] = author.number()
    return f"the stylesheet {name}"


def new_look(author: Author) -> str:
    """Write a stylesheet, and let a page use it."""
    name, view = author.view()
    if len(author.project.looks) > 4:
        return ""
    new = f"look{author.number()}"
    author.project.looks[new] = author.number()
    view.looks = [new]
    return f"the stylesheet {new}, for {name}"


def new_page(author: Author) -> str:
    """Write a page, sometimes in a folder that is new as well."""
    if len(author.project.pages()) > 9:
        return ""
    folder = author.random.choice(["", "shop/", f"f{author.number()}/"])
    removed = [name for name in author.open if name not in author.project.views]
    name = author.pick(removed) or f"{folder}p{author.number()}"
    view = View(ui=author.number(), data=author.random.choice([None, author.number()]))
    author.project.views[name] = view
    return f"the page {name}"


def no_page(author: Author) -> str:
    """Delete a page, which somebody may be looking at."""
    name = author.pick(author.project.pages())
    if len(author.project.pages()) < 4:
        return ""
    del author.project.views[name]
    return f"no page {name}"


def rename_page(author: Author) -> str:
    """Rename a page: another URL leads to it."""
    old = author.pick([name for name in author.project.pages() if name != "index"])
    if not old:
        return ""
    new = f"{author.random.choice(['', 'shop/'])}p{author.number()}"
    author.project.views[new] = author.project.views.pop(old)
    return f"the page {old} is {new} now"


def layout(author: Author) -> str:
    """Put a layout around a folder, or take it away."""
    folders = {str(PurePosixPath(page).parent) for page in author.project.pages()} - {"."}
    folder = author.pick(list(folders))
    if not folder:
        return ""
    name = f"{folder}/layout"
    if author.project.views.pop(name, None) is None:
        author.project.views[name] = View(ui=author.number())
        return f"the layout {name}"
    return f"no layout {name}"


def endpoint(author: Author) -> str:
    """Edit an endpoint, or write another."""
    name = author.random.choice(["ping", "pong"])
    author.project.endpoints[name] = author.number()
    return f"the endpoint {name}"


def app(author: Author) -> str:
    """Edit the module of the app: the server process is restarted."""
    author.project.app = author.number()
    return "app.py"


def settings(author: Author) -> str:
    """Edit the settings: everything is restarted."""
    author.project.lang = author.number()
    return "fx.config.json"


def _delete(
    files: dict[str, Module] | dict[str, Component], name: str, used: list[list[str]]
) -> None:
    """Delete a file that others of its kind use, and the lists of names in ``used``."""
    del files[name]
    for names in [*(file.uses for file in files.values()), *used]:
        names[:] = [one for one in names if one != name]


def _toggle(author: Author, used: list[str], names: list[str]) -> None:
    name = author.pick(names)
    if name in used:
        used.remove(name)
    elif name:
        used.append(name)


WORKS: list[tuple[Work, int]] = [
    *((work, 9) for work in (ui, data)),
    *((work, 5) for work in (both, module, part, look)),
    *((work, 3) for work in (uses_of_view, module_uses, hooks, title, new_page, no_page)),
    *((work, 2) for work in (new_part, no_part, new_module, no_module, rename_page, rename_part)),
    *((work, 2) for work in (part_style, new_look, layout, no_loader, action, endpoint)),
    *((work, 1) for work in (app, settings)),
]
