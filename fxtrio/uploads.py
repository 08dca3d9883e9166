"""Files as fields of typed bodies: `UploadFile`, and what an `Upload` demands of one.

``avatar: Annotated[UploadFile, Upload(max_size="5MB", types=("image/*",))]``
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import attrs
from starlette.datastructures import UploadFile as StarletteUploadFile

from fxtrio.sizes import size_text, to_bytes

NO_FILE = "Expected a file"


class UploadFile(StarletteUploadFile):
    """A file of a form: Starlette's class, as a type that pydantic knows.

    The client sets ``filename`` and ``content_type``. fxtrio closes the file, and deletes it from
    the disk, when the request and its background tasks have ended.
    """

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        """Return how pydantic validates it: as it is."""
        from pydantic_core import core_schema

        return core_schema.no_info_plain_validator_function(as_file)


def as_file(value: object) -> StarletteUploadFile:
    """Return a value that is a file. Raises ValueError for another one."""
    if not isinstance(value, StarletteUploadFile):
        raise ValueError(NO_FILE)
    return value


def is_empty(value: object) -> bool:
    """Whether a value is what browsers send for a file field in which nothing was chosen."""
    return isinstance(value, StarletteUploadFile) and not value.filename and not value.size


def _sizes(value: int | str | None) -> int | None:
    return None if value is None else to_bytes(value)


def _above_zero(_: Any, __: attrs.Attribute[Any], value: int | None) -> None:
    if value is not None and value < 1:
        raise ValueError(f"Upload: max_size must be above 0, not {value!r}")


def _media_types(_: Any, __: attrs.Attribute[Any], value: tuple[str, ...]) -> None:
    for name in value:
        if not re.fullmatch(r"[a-z0-9][\w.+-]*/([a-z0-9][\w.+-]*|\*)", name):
            raise ValueError(
                f"Upload: {name!r} is not a content type. Write 'image/png', or 'image/*' for all "
                "images, in lower case"
            )


def _types(value: str | Sequence[str]) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value)


@attrs.frozen(kw_only=True)
class Upload:
    """The constraints of a file field, or of each file of a list.

    Raises ValueError for an invalid size or type.
    """

    max_size: int | None = attrs.field(default=None, converter=_sizes, validator=_above_zero)
    """Largest file: bytes, or text such as ``"5MB"``."""

    types: tuple[str, ...] = attrs.field(default=(), converter=_types, validator=_media_types)
    """Content types that may come, ``image/*`` for all images. It is what the client calls
    its file, and keeps nobody from sending something else: look into what you store."""

    def check(self, value: Any) -> Any:
        """Return a file, list of files or None that may come. Raises ValueError otherwise."""
        for file in value if isinstance(value, (list, tuple)) else [value]:
            if file is not None:
                self._check_one(as_file(file))
        return value

    def _check_one(self, file: StarletteUploadFile) -> None:
        if self.max_size is not None and (file.size or 0) > self.max_size:
            raise ValueError(f"The file is larger than {size_text(self.max_size)}")
        kind = file.content_type or ""  # as it came: the application may look it up
        if self.types and not any(_covers(allowed, kind) for allowed in self.types):
            raise ValueError(f"Expected a file of the type {' or '.join(self.types)}")

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        """Return how pydantic validates a field that it is an annotation of."""
        from pydantic_core import core_schema

        return core_schema.no_info_after_validator_function(self.check, handler(source))


def _covers(allowed: str, kind: str) -> bool:
    return kind.startswith(allowed[:-1]) if allowed.endswith("/*") else kind == allowed
