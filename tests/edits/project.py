"""A project as the edits know it: what its files say, and what its pages therefore show."""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath

import attrs

BLACK = "rgb(0, 0, 0)"
UNCHANGED = "import os\n\nSEEN = [os.getpid()]\n"
"""A module that never changes: it is run once in a process."""


@attrs.define
class Module:
    """A Python module beside the pages."""

    token: int
    uses: list[str] = attrs.field(factory=list)
    """Names of other modules, which were there before this one."""


@attrs.define
class Component:
    """A component in `parts/`."""

    token: int
    uses: list[str] = attrs.field(factory=list)
    styled: bool = False
    """Whether it has a CSS module."""


@attrs.define
class View:
    """A page file: a page, a layout or a boundary."""

    ui: int
    data: int | None = None
    """None without a loader."""

    title: int | None = None
    modules: list[str] = attrs.field(factory=list)
    parts: list[str] = attrs.field(factory=list)
    looks: list[str] = attrs.field(factory=list)
    hooks: int = 1
    """How many hooks of state it has."""

    acts: int | None = None
    """What its action answers; None without one."""


@attrs.define
class Project:
    """What the files say. `texts` are the files, `texts_of` is what a page consists of."""

    views: dict[str, View] = attrs.field(factory=dict)
    """By their file, relative to the pages folder, without the suffix."""

    modules: dict[str, Module] = attrs.field(factory=dict)
    parts: dict[str, Component] = attrs.field(factory=dict)
    looks: dict[str, int] = attrs.field(factory=dict)
    """The colour of each stylesheet."""

    endpoints: dict[str, int] = attrs.field(factory=dict)
    app: int = 0
    lang: int = 0
    broken: dict[str, tuple[str, str]] = attrs.field(factory=dict)
    """File → text to be replaced, once, by another; without any text the file is gone."""

    def pages(self) -> list[str]:
        """Return the page files that are pages."""
        return [name for name in self.views if PurePosixPath(name).name not in SPECIAL]

    def texts_of(self, page: str) -> list[str]:
        """Return the title of a page, and the texts of its elements, each with its colour."""
        folders = [*reversed(PurePosixPath(page).parents)]
        around = [str(one / "layout") for one in folders if str(one / "layout") in self.views]
        title = self.views[page].title
        texts = [text for name in (*around, page) for text in self._of_view(name)]
        return [f"title {title}" if title else "edits", *texts]

    def shows(self, page: str, used: str) -> bool:
        """Whether a page, or a layout around it, shows a component or a module, by its name."""
        token = re.compile(rf"(?:^| ){used} \d+\b")
        return any(token.search(text) for text in self.texts_of(page))

    def texts(self) -> dict[str, str]:
        """Return all files."""
        files = {
            "kept.py": UNCHANGED,
            "app.py": "from pathlib import Path\n\nfrom fxtrio import create_app\n\n"
            f"app = create_app(Path(__file__).parent)\nTOKEN = {self.app}\n",
            "fx.config.json": f'{{"name": "edits", "lang": "en-a{self.lang:05}"}}\n',
            "pages/styles.css": "body { color: rgb(0, 0, 0) }\n",
        }
        files |= {f"pages/{name}.fxl": view_text(name, view) for name, view in self.views.items()}
        files |= {f"{name}.py": module_text(module) for name, module in self.modules.items()}
        files |= {f"pages/api/{name}.py": endpoint(n) for name, n in self.endpoints.items()}
        for name, part in self.parts.items():
            files[f"parts/{name}.jsx"] = part_text(name, part)
            if part.styled:
                files[f"parts/{name}.module.css"] = f".box {{ color: {colour(part.token)} }}\n"
        for name, number in self.looks.items():
            files[f"looks/{name}.css"] = f".{name} {{ color: {colour(number)} }}\n"
        for file, (old, new) in self.broken.items():
            if not old:
                del files[file]
                continue
            assert old in files[file], (file, old)
            files[file] = files[file].replace(old, new, 1)
        return files

    def _of_view(self, name: str) -> list[str]:
        view = self.views[name]
        found = [f"ui {view.ui}|{self._look(view)}", f"states {view.hooks}|{BLACK}"]
        if view.data is not None:
            found.append(f"data {view.data}|{BLACK}")
            found += [f"{self._value(module)}|{BLACK}" for module in view.modules]
        return found + [text for part in view.parts for text in self._of_part(part)]

    def _look(self, view: View) -> str:
        return colour(self.looks[view.looks[-1]]) if view.looks else BLACK

    def _value(self, name: str) -> str:
        module = self.modules[name]
        return " ".join([f"{name} {module.token}", *map(self._value, module.uses)])

    def _of_part(self, name: str) -> list[str]:
        part = self.parts[name]
        shade = colour(part.token) if part.styled else BLACK
        own = f"{name} {part.token}|{shade}"
        return [own, *(text for used in part.uses for text in self._of_part(used))]


SPECIAL = frozenset({"layout", "error", "not-found", "loading", "template"})


def colour(number: int) -> str:
    """Return a colour of its own for each number below 65536."""
    return f"rgb({number // 256}, {number % 256}, 9)"


def path_of(page: str) -> str:
    """Return the URL path of a page."""
    path = "/" + page
    return path.removesuffix("index").rstrip("/") or "/"


def view_text(name: str, view: View) -> str:
    """Return the text of a page file."""
    up = "../" * len(PurePosixPath(name).parts)
    lines = []
    if view.title is not None:
        lines.append(f'HEAD = "<title>title {view.title}</title>"\n')
    if view.data is not None:
        lines += [f"from {module} import value as {module}_value" for module in view.modules]
        calls = ", ".join(f"{module}_value()" for module in view.modules)
        lines += [
            "from kept import SEEN\n",
            f'VALUE = "data {view.data}"\n\n',
            "@server\nasync def load(request):",
            f'    return {{"value": VALUE, "values": [{calls}], "pid": SEEN[0]}}\n\n',
        ]
    if view.acts is not None:
        lines.append(f'@action\nasync def act(request):\n    return {{"did": {view.acts}}}\n\n')
    lines += ['import { useState } from "react";']
    if name == "layout":
        lines += ['import { navigate } from "fx/client";', 'import "./styles.css";']
        lines.append('if (typeof window === "object") window.navigateTo = navigate;')
    lines += [f'import {{ {part} }} from "{up}parts/{part}";' for part in view.parts]
    lines += [f'import "{up}looks/{look}.css";' for look in view.looks]
    is_layout = PurePosixPath(name).name == "layout"
    taken = "data, children" if is_layout else "data"
    states = [f"  const [state{number}] = useState(1);" for number in range(view.hooks)]
    total = " + ".join(f"state{number}" for number in range(view.hooks))
    loaded = [
        "    <b>{data.value}</b>",
        "    {data.values.map((one) => <b key={one}>{one}</b>)}",
    ]
    lines += [
        f"\nexport default function View({{ {taken} }}) {{",
        *states,
        "  return (<section>",
        f'    <b className="{" ".join(view.looks)}">ui {view.ui}</b>',
        f"    <b>states {{{total}}}</b>",
        *(loaded if view.data is not None else []),
        *(f"    <{part} />" for part in view.parts),
        '    <input aria-label="typed" />',
        *(["    {children}"] if is_layout else []),
        "  </section>);\n}",
    ]
    return "\n".join(lines) + "\n"


def module_text(module: Module) -> str:
    """Return the text of a module whose `value()` shows it and what it uses."""
    lines = [f"from {used} import value as {used}_value" for used in module.uses]
    values = "".join(f" + ' ' + {used}_value()" for used in module.uses)
    name = '__name__ + " "'
    return "\n".join([*lines, f'\n\ndef value():\n    return {name} + "{module.token}"{values}\n'])


def part_text(name: str, part: Component) -> str:
    """Return the text of a component."""
    lines = [f'import {{ {used} }} from "./{used}";' for used in part.uses]
    shade = ""
    if part.styled:
        lines.append(f'import styles from "./{name}.module.css";')
        shade = " className={styles.box}"
    inner = "".join(f"<{used} />" for used in part.uses)
    lines.append(f"\nexport const {name} = () => <><b{shade}>{name} {part.token}</b>{inner}</>;")
    return "\n".join(lines) + "\n"


def endpoint(token: int) -> str:
    """Return the text of an endpoint."""
    return f'async def get(request):\n    return {{"token": {token}}}\n'


def start() -> Project:
    """Return a project that has something of everything."""
    return Project(
        views={
            "layout": View(ui=1, data=2, parts=["Brand"]),
            "index": View(ui=3, data=4, modules=["alpha"], parts=["Card"], looks=["plain"]),
            "about": View(ui=5, title=1),
            "shop/layout": View(ui=6, looks=["shopping"]),
            "shop/index": View(ui=7, data=8, modules=["alpha", "beta"], title=2, acts=1),
            "shop/list": View(ui=9, data=10, parts=["Card", "Brand"]),
            "not-found": View(ui=11),
        },
        modules={"gamma": Module(1), "beta": Module(2, ["gamma"]), "alpha": Module(3)},
        parts={
            "Dot": Component(1),
            "Card": Component(2, ["Dot"], styled=True),
            "Brand": Component(3),
        },
        looks={"plain": 1, "shopping": 2},
        endpoints={"ping": 1},
    )


def save(root: Path, before: dict[str, str], now: dict[str, str], *, renaming: bool) -> list[str]:
    """Write what has changed, and return the files; with ``renaming`` as careful editors do."""
    changed = []
    for file in sorted({*before, *now}):
        text = now.get(file)
        if before.get(file) == text:
            continue
        changed.append(file)
        target = root / file
        if text is None:
            target.unlink()
        elif renaming:
            target.parent.mkdir(parents=True, exist_ok=True)
            draft = target.with_name(f".{target.name}.part")
            draft.write_text(text, "utf-8")
            draft.replace(target)
        else:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, "utf-8")
    return changed
