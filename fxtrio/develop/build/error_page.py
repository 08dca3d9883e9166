"""A page that shows the problems of its file."""

from __future__ import annotations

import json
from collections.abc import Iterable

from fxtrio.compile.checked_page import CheckedPage
from fxtrio.compile.problems import Problem
from fxtrio.manifest import PageModule


def broken_page(source: str, problems: Iterable[Problem]) -> CheckedPage:
    """Return what stands in for a page file that is wrong and has never been right."""
    text = json.dumps("\n".join(problem.head for problem in problems))
    ui = f"export default function Broken() {{\n  throw new Error({text});\n}}\n"
    return CheckedPage(PageModule(source=source), "", ui)
