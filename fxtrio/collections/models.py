"""Front matter in, an instance of the application's class out."""

from __future__ import annotations

import dataclasses
import difflib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

import attrs

from fxtrio.errors import SeveralProblems, ValidationActionError, display_path, sentence
from fxtrio.serve.request.model.validate import ROOT, body_model

Model = TypeVar("Model")

NAME = "FrontMatter"
"""The class in `content.py` that checks the front matter of pages."""


@attrs.frozen(order=True)
class Fault:
    """One mistake of one file."""

    path: str
    """The file."""

    line: int
    """1-based; 0 if it is not known."""

    cause: str
    """Without a full stop."""

    remedy: str
    """Without a full stop."""

    def __str__(self) -> str:
        """Return ``path:line: cause. Remedy.``"""
        place = f"{self.path}:{self.line}" if self.line else self.path
        return f"{place}: {self.cause}. {sentence(self.remedy)}"


class ContentInvalid(SeveralProblems[Fault]):
    """Markdown files are invalid; ``problems`` lists every mistake, by place."""


def build_model(
    model: type[Model], values: Mapping[str, Any]
) -> Model | list[tuple[str, str, str]]:
    """Return an instance of ``model``, or field, cause and remedy of each mistake.

    ``model`` is an attrs class, a data class or a pydantic model; raises TypeError for others.
    """
    form = body_model(model)
    if form is None:
        raise TypeError(f"{model!r} is not an attrs class, data class or pydantic model")
    known = _fields_of(model)
    wrong = [] if known is None else [name for name in values if name not in known]
    mistakes = [_unknown(name, known or ()) for name in wrong]
    try:
        built: Model = form.build({key: values[key] for key in values if key not in wrong}, False)
    except ValidationActionError as error:
        for path, messages in error.fields.items():
            field = "" if path == ROOT else path
            remedy = f"Change it, or the class {model.__name__}"
            mistakes += [(field, f"{field!r}: {message}", remedy) for message in messages]
    else:
        if not mistakes:
            return built
    return mistakes


def _fields_of(model: Any) -> set[str] | None:
    """Return the names that front matter may have; None for a class that takes any."""
    if attrs.has(model):
        return {field.alias or field.name for field in attrs.fields(model) if field.init}
    if dataclasses.is_dataclass(model):
        return {field.name for field in dataclasses.fields(model) if field.init}
    if model.model_config.get("extra") == "allow":
        return None
    names = ((name, field.alias or name) for name, field in model.model_fields.items())
    return {one for pair in names for one in pair}


def _unknown(name: str, known: Iterable[str]) -> tuple[str, str, str]:
    near = difflib.get_close_matches(name, known, n=1)
    remedy = f"Did you mean {near[0]!r}?" if near else "Remove it"
    return name, f"{name!r} is not a field", remedy


def page_front_matter(module: ModuleType, file: str, text: str) -> Any:
    """Return the front matter of a page, checked by the `FrontMatter` of the module `content.py`.

    The server halves of pages in Markdown call it. ``text`` is JSON: the ``values``, and the
    ``lines`` of their names. Returns None if the module has no such class, but ``STATIC``.
    Raises ContentInvalid.
    """
    source = display_path(Path(file))
    model = getattr(module, NAME, None)
    if model is None and hasattr(module, "STATIC"):
        return None
    if not isinstance(model, type):
        path = display_path(Path(module.__file__ or ""))
        remedy = "Define it as an attrs class, a data class or a pydantic model"
        raise ContentInvalid([Fault(path, 0, f"there is no class {NAME!r}", remedy)])
    written = json.loads(text)
    built = build_model(model, written["values"])
    if isinstance(built, list):
        raise ContentInvalid(faults_of(source, built, written["lines"]))
    return built


def faults_of(
    path: str, mistakes: Iterable[tuple[str, str, str]], lines: Mapping[str, int]
) -> list[Fault]:
    """Return what `build_model` has found, at the ``lines`` of the fields."""
    return sorted(
        Fault(path, lines.get(field.partition(".")[0], 1), cause, remedy)
        for field, cause, remedy in mistakes
    )
