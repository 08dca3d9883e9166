"""Forms as typed bodies: single values where a field has several, and files."""

from __future__ import annotations

import types
import typing
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import attrs
import cattrs
from starlette.datastructures import UploadFile

from fxtrio.uploads import Upload, as_file, is_empty

_SEVERAL = (list, set, frozenset, tuple)
_UNIONS = (typing.Union, types.UnionType)


@attrs.frozen
class FormFields:
    """The form fields of a model, by its annotations."""

    several: frozenset[str]
    """Fields that hold several values, also as ``list[…] | None``."""

    nullable: frozenset[str]
    """Fields that may be None."""

    def filled(self, value: Any) -> Any:
        """Return a form's values as the model expects them.

        A single value of a list field becomes a list of one. A file field without a chosen
        file becomes None where the model allows it, an empty list, or is left out.
        """
        if not isinstance(value, Mapping):
            return value
        filled: dict[str, Any] = {}
        for name, item in value.items():
            items = item if isinstance(item, list) else [item]
            chosen = [each for each in items if not is_empty(each)]
            if name in self.several:
                filled[name] = chosen
            elif chosen:
                filled[name] = chosen if isinstance(item, list) else item
            elif name in self.nullable:
                filled[name] = None
        return filled


def fields_of(annotations: Mapping[str, Any]) -> FormFields:
    """Return the form fields of a model, by its annotations."""
    parts = {name: list(alternatives(annotation)) for name, annotation in annotations.items()}
    return FormFields(
        frozenset(
            name
            for name, kinds in parts.items()
            if any((typing.get_origin(kind) or kind) in _SEVERAL for kind in kinds)
        ),
        frozenset(name for name, kinds in parts.items() if type(None) in kinds),
    )


def alternatives(annotation: Any) -> Iterator[Any]:
    """Yield the types that an annotation allows, without their `Annotated` metadata."""
    origin = typing.get_origin(annotation)
    if origin is typing.Annotated:
        yield from alternatives(typing.get_args(annotation)[0])
    elif origin in _UNIONS:
        for part in typing.get_args(annotation):
            yield from alternatives(part)
    else:
        yield annotation


def is_file(kind: Any) -> bool:
    """Whether values of ``kind`` are files."""
    return isinstance(kind, type) and issubclass(kind, UploadFile)


def file_of(value: Any, _: Any) -> UploadFile:
    """Return a file. Raises ValueError for anything else."""
    return as_file(value)


def is_upload(kind: Any) -> bool:
    """Whether ``kind`` is annotated with an `Upload`."""
    if typing.get_origin(kind) is not typing.Annotated:
        return False
    return any(isinstance(each, Upload) for each in kind.__metadata__)


def upload_factory(kind: Any, converter: cattrs.BaseConverter) -> Callable[[Any, Any], Any]:
    """Return a hook that structures an annotated file, or files, and checks its `Upload`."""
    inner = converter.get_structure_hook(kind.__origin__)
    demands = [each for each in kind.__metadata__ if isinstance(each, Upload)]

    def structure(value: Any, _: Any) -> Any:
        structured = inner(value, kind.__origin__)
        for demand in demands:
            demand.check(structured)
        return structured

    return structure
