"""Mistakes that somebody makes, and what has to be seen of each of them."""

from __future__ import annotations

import attrs

from .works import Author


@attrs.frozen
class Mistake:
    """Text of a file that is replaced, until it is put right."""

    title: str
    file: str
    old: str
    new: str
    page: str = ""
    """The page that it covers for certain; "" for those that show `used`."""

    status: int = 200
    """That of a fresh document of the page: what was right before is served, or it fails."""

    used: str = ""
    """The component or Python module whose pages it covers: others count it in their corners."""

    @property
    def is_counted(self) -> bool:
        """Whether it covers no other page, and those count it in their corners."""
        if self.used:
            return True
        return self.page != "" and self.status == 200 and self.file == f"pages/{self.page}.fxl"


def make(author: Author) -> Mistake | None:
    """Return a mistake in a file that matters to what browsers show; None when there is none."""
    project = author.project
    page = author.pick([name for name in author.open if name in project.views])
    if not page:
        return None
    view, file = project.views[page], f"pages/{page}.fxl"
    found = [
        Mistake("JSX that does not parse", file, "<section>", "<section><<b>", page),
        Mistake(
            "a name that is not there",
            file,
            "  return (<section>",
            "  undefined.boom;\n  return (<section>",
            page,
            500,
        ),
        Mistake(
            "a client half that throws when it is loaded",
            file,
            "export default function",
            "undefined.boom;\nexport default function",
            page,
            500,
        ),
        Mistake("no default export", file, "export default function", "function", page),
        Mistake(
            "an import of nothing",
            file,
            "import { useState }",
            'import "../nothing";\nimport { useState }',
            page,
        ),
    ]
    if view.data is not None:
        found += [
            Mistake("Python that does not parse", file, "def load(", "def load((", page),
            Mistake("a loader that is not async", file, "async def load", "def load", page),
            Mistake("a module that fails", file, "VALUE =", "VALUE = 1 / 0 #", page),
            Mistake("a loader that fails", file, "    return {", "    return 1 / 0, {", page, 500),
        ]
    if view.data is not None and view.modules:
        name = author.pick(view.modules)
        module = f"{name}.py"
        found += [
            Mistake(
                "a Python module that fails",
                module,
                "def value",
                "1 / 0\n\ndef value",
                used=name,
            ),
            Mistake(
                "a module that does not parse", module, "def value()", "def value((", used=name
            ),
            Mistake("a name that is gone", module, "def value()", "def worth()", used=name),
        ]
    if view.parts:
        name = author.pick(view.parts)
        part = f"parts/{name}.jsx"
        found += [
            Mistake("a component that does not parse", part, "=> <>", "=> <><<i>", used=name),
            Mistake("a component that is gone", part, "", "", page, 500),
            Mistake(
                "a component's module that throws",
                part,
                "export const",
                "undefined.boom;\nexport const",
                page,
                500,
            ),
            Mistake("a component that throws", part, "=> <>", "=> undefined.boom ?? <>", page, 500),
        ]
    return author.random.choice(found)
