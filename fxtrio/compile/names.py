"""Names that stay undefined, found by pyflakes. Called by `project`."""

from __future__ import annotations

import ast
import builtins
import difflib
from collections.abc import Collection, Iterable

from pyflakes import messages
from pyflakes.checker import Checker

from fxtrio.compile.bindings import names_of
from fxtrio.compile.inject import WITH_ACTION, WITH_LOADER
from fxtrio.compile.problems import Problem
from fxtrio.compile.source import SourceText

_RUNTIME = (*WITH_LOADER, *WITH_ACTION, "redirect")
_MOST_GUESSES = 50  # names for which a similar one is looked for: 0.2 ms each
_UNDEFINED = (messages.UndefinedName, messages.UndefinedLocal, messages.UndefinedExport)


def undefined_names(
    source: SourceText, module: ast.Module, injected: Iterable[str]
) -> list[Problem]:
    """Return a problem for every use of a name in ``module`` that nothing defines.

    ``module`` is the Python of ``source``; ``injected`` names are defined from the start.
    """
    try:
        checker = Checker(module, source.path, builtins=set(injected), withDoctest=False)
    except RecursionError:
        deepest = "Divide the largest expression into several statements"
        return [source.problem(0, "the Python is nested too deeply to be checked", deepest)]
    known = sorted(names_of(module.body).bound | set(dir(builtins)))
    undefined = [
        (message, str(message.message_args[0]))
        for message in checker.messages
        if isinstance(message, _UNDEFINED)
    ]
    names = list(dict.fromkeys(name for _, name in undefined))
    remedies = {name: _remedy(name, known) for name in names[:_MOST_GUESSES]}
    return [
        source.node_problem(
            message.lineno,
            message.col,
            f"undefined name {name!r}",
            remedies.get(name, "Define or import it"),
        )
        for message, name in undefined
    ]


def _remedy(name: str, known: Collection[str]) -> str:
    if name in _RUNTIME:
        return f"Write 'from fx.runtime import {name}'"
    close = [other for other in difflib.get_close_matches(name, known, n=2) if other != name]
    return f"Define or import it, or write {close[0]!r}" if close else "Define or import it"
