"""Urlencoded and multipart forms: bytes in, fields and files out. No I/O but temporary files.

All text is decoded as UTF-8, which browsers send. The client cannot choose another codec:
some of Python's are quadratic, others produce text that cannot be encoded again.
"""

from __future__ import annotations

from collections.abc import Iterable
from tempfile import SpooledTemporaryFile
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote_to_bytes

from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header
from starlette.datastructures import FormData, Headers

from fxtrio.errors import BadBody, CharsetUnsupported
from fxtrio.serve.request.bodies.part_files import PartFiles
from fxtrio.uploads import UploadFile

if TYPE_CHECKING:
    from starlette.datastructures import ImmutableMultiDict
    from starlette.datastructures import UploadFile as StarletteUploadFile

if TYPE_CHECKING:
    from python_multipart.multipart import MultipartCallbacks

URLENCODED = "application/x-www-form-urlencoded"
MULTIPART = "multipart/form-data"

MOST_FIELDS = 1000
"""Fields of a form, empty ones included, and again so many files (count)."""

LARGEST_FIELD = 1024**2
"""Name and text of one field (bytes)."""

IN_MEMORY = 64 * 1024
"""Larger files of a form go to the disk (bytes)."""

_LONGEST_TYPE = 1024
"""Longer content types are rejected; the longest boundary is 256 (characters)."""

_MOST_OPTIONS = 100
"""Semicolons of a part's name and file name; more are parsed in quadratic time (count)."""

_UTF8 = frozenset({"utf-8", "utf8", "us-ascii", "ascii"})


def media_type(content_type: str) -> str:
    """Return a content type in lower case, without parameters."""
    return content_type.partition(";")[0].strip().lower()


def options_of(content_type: str) -> dict[bytes, bytes]:
    """Return the parameters of a content type, by lower-case name.

    Raises BadBody for one that no client sends, and CharsetUnsupported (415) when its
    ``charset`` is not UTF-8, or ASCII, which is part of it.
    """
    if ";" not in content_type:  # the ordinary one
        return {}
    if len(content_type) > _LONGEST_TYPE:
        raise BadBody(f"The content type has more than {_LONGEST_TYPE} characters.")
    options = parse_options_header(content_type)[1]
    require_utf8(options.get(b"charset", b"utf-8"))
    return options


def require_utf8(charset: bytes) -> None:
    """Raise CharsetUnsupported (415) for any other charset."""
    name = charset.decode("latin-1").strip().lower().replace("_", "-")
    if name not in _UTF8:
        raise CharsetUnsupported(name)


def parse_form(
    chunks: Iterable[bytes],
    content_type: str,
    *,
    max_files: float = MOST_FIELDS,
    max_fields: float = MOST_FIELDS,
    max_part_size: int = LARGEST_FIELD,
) -> FormData:
    """Return the fields and files of a form, in order; an empty form for other types.

    Invalid UTF-8 is replaced with U+FFFD. Raises BadBody, and CharsetUnsupported (415)
    for the form, a part, or a field ``_charset_``, that names another charset.
    """
    options = options_of(content_type)
    kind = media_type(content_type)
    limits = _Limits(max_files, max_fields, max_part_size)
    if kind == URLENCODED:
        form = FormData(_urlencoded(b"".join(chunks), limits))
    elif kind == MULTIPART:
        form = FormData(_multipart(chunks, options, limits))
    else:
        return FormData()
    named = form.get("_charset_")  # browsers fill it in by themselves
    if isinstance(named, str) and named:
        try:
            require_utf8(named.encode())
        except CharsetUnsupported:
            _close(form.values())
            raise
    return form


def form_values(form: ImmutableMultiDict[str, Any]) -> dict[str, Any]:
    """Return a form or query as a dict; a repeated key has a list."""
    values: dict[str, list[Any]] = {}
    for key, value in form.multi_items():
        values.setdefault(key, []).append(value)
    return {key: several[0] if len(several) == 1 else several for key, several in values.items()}


class _Limits:
    def __init__(self, files: float, fields: float, field_size: int) -> None:
        self._files, self._fields, self.field_size = files, fields, field_size

    def check(self, *, files: int = 0, fields: int = 0, size: int = 0) -> None:
        if fields > self._fields:
            raise BadBody(f"The form has more than {self._fields} fields.")
        if files > self._files:
            raise BadBody(f"The form has more than {self._files} files.")
        if size > self.field_size:
            raise BadBody(f"A field of the form is larger than {self.field_size} bytes.")


def _urlencoded(body: bytes, limits: _Limits) -> list[tuple[str, str | StarletteUploadFile]]:
    limits.check(fields=body.count(b"&"))
    items: list[tuple[str, str | StarletteUploadFile]] = []
    for pair in body.split(b"&"):
        if pair:
            limits.check(size=len(pair))
            name, _, value = pair.partition(b"=")
            items.append((_unquoted(name), _unquoted(value)))
    return items


def _unquoted(text: bytes) -> str:
    text = text.replace(b"+", b" ")
    return _text(unquote_to_bytes(text) if b"%" in text else text)


def _text(raw: bytes | bytearray) -> str:
    return raw.decode("utf-8", "replace")


def _multipart(
    chunks: Iterable[bytes], options: dict[bytes, bytes], limits: _Limits
) -> list[tuple[str, str | StarletteUploadFile]]:
    boundary = options.get(b"boundary")
    if not boundary:
        raise BadBody("The form could not be parsed: Missing boundary in multipart.")
    parts = _Parts(limits)
    try:
        parser = MultipartParser(boundary, parts.callbacks())
        for chunk in chunks:
            parser.write(chunk)
        parser.finalize()
        if not parts.ended:
            raise BadBody("The form could not be parsed: it ends before its last boundary.")
    except BaseException as error:
        parts.close()
        if isinstance(error, FormParserError):
            raise BadBody(f"The form could not be parsed: {error}") from error
        raise
    finally:
        parts.disk.close()
    return parts.items


class _Parts:
    """Collects the parts that the multipart parser reports."""

    def __init__(self, limits: _Limits) -> None:
        self.items: list[tuple[str, str | StarletteUploadFile]] = []
        self.ended = False
        self._limits = limits
        self._files = self._fields = 0
        self._header = (bytearray(), bytearray())  # name and value, as far as they came
        self._headers: list[tuple[bytes, bytes]] = []
        self._name = ""
        self._data = bytearray()
        self._file: UploadFile | None = None
        self._on_disk = False
        self.disk = PartFiles()

    def callbacks(self) -> MultipartCallbacks:
        return {
            "on_part_begin": self._begin,
            "on_part_data": self._take,
            "on_part_end": self._end,
            "on_header_field": lambda data, start, end: self._header[0].extend(data[start:end]),
            "on_header_value": lambda data, start, end: self._header[1].extend(data[start:end]),
            "on_header_end": self._end_header,
            "on_headers_finished": self._end_headers,
            "on_end": self._end_form,
        }

    def close(self) -> None:
        _close(value for _, value in self.items)
        _close([self._file])

    def _begin(self) -> None:
        self._headers, self._name, self._data, self._file = [], "", bytearray(), None
        self._on_disk = False

    def _end_header(self) -> None:
        name, value = self._header
        self._headers.append((bytes(name).lower(), bytes(value)))
        self._header = (bytearray(), bytearray())

    def _end_headers(self) -> None:
        headers = dict(self._headers)
        disposition = headers.get(b"content-disposition", b"")
        if disposition.count(b";") > _MOST_OPTIONS:
            raise BadBody("The form could not be parsed: a part has too many parameters.")
        _, options = parse_options_header(disposition)
        if b"name" not in options:
            raise BadBody('The form could not be parsed: a part has no "name".')
        self._name = _text(options[b"name"])
        if b"filename" not in options:
            self._fields += 1
            self._limits.check(fields=self._fields)
            options_of(headers.get(b"content-type", b"").decode("latin-1"))
            return
        self._files += 1
        self._limits.check(files=self._files)
        spool = SpooledTemporaryFile(max_size=IN_MEMORY)  # noqa: SIM115  # its body closes it
        self._file = UploadFile(
            file=spool,  # type: ignore[arg-type]  # as Starlette does
            size=0,
            filename=_text(options[b"filename"]),
            headers=Headers(raw=self._headers),
        )

    def _take(self, data: bytes, start: int, end: int) -> None:
        if self._file is None:
            self._limits.check(size=len(self._data) + end - start)
            self._data += data[start:end]
        else:
            self._file.size = (self._file.size or 0) + end - start
            if not self._on_disk and self._file.size > IN_MEMORY:
                self._move_to_disk(self._file)
            (self.disk if self._on_disk else self._file.file).write(data[start:end])

    def _move_to_disk(self, upload: UploadFile) -> None:
        self.disk.begin()
        self._on_disk = True
        upload.file.seek(0)
        self.disk.write(upload.file.read())

    def _end(self) -> None:
        if self._file is None:
            self.items.append((self._name, _text(self._data)))
        else:
            if self._on_disk:
                self._file.file.close()
                self._file.file = self.disk.end()
            self._file.file.seek(0)
            self.items.append((self._name, self._file))
            self._file = None

    def _end_form(self) -> None:
        self.ended = True


def _close(values: Iterable[object]) -> None:
    for value in values:
        if isinstance(value, UploadFile):
            value.file.close()
