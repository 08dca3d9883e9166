"""Request bodies of actions: read whole within a limit, parsed by their type.

JSON, urlencoded and multipart bodies all come out of ``await request.json()``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import msgspec
from starlette.datastructures import FormData
from starlette.exceptions import HTTPException
from starlette.formparsers import MultiPartException
from starlette.requests import ClientDisconnect, Request
from starlette.types import Message, Receive, Scope

from fxtrio.errors import BadBody, BodyTooLarge

_MOST_FIELDS = 1000
"""Fields of an urlencoded form, empty ones included: the parser does not count those."""

MOST_SHOWN = 256 * 1024
"""Text of a form that goes back into its page (characters): there a ``<`` takes up to 10 bytes."""

_PRIVATE = ("password", "passphrase", "secret", "token")
_JSON = re.compile(r"(?:application|text)/(?:[a-z0-9.-]+\+)?json")
_FORMS = ("application/x-www-form-urlencoded", "multipart/form-data")


async def read_body(receive: Receive, headers: dict[bytes, bytes], *, limit: int) -> bytes:
    """Return the whole request body.

    Raises BodyTooLarge as soon as it is known to be over ``limit`` bytes, also
    for chunked bodies, and ClientDisconnect when the client leaves before its end.
    """
    declared = headers.get(b"content-length")
    if declared is not None and declared.isdigit() and int(declared) > limit:
        raise BodyTooLarge(limit)
    chunks: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        chunk = message.get("body", b"")
        size += len(chunk)
        if size > limit:
            raise BodyTooLarge(limit)
        if chunk:
            chunks.append(chunk)
        if not message.get("more_body", False):
            return chunks[0] if len(chunks) == 1 else b"".join(chunks)


async def _no_more() -> Message:
    return {"type": "http.disconnect"}


class ActionRequest(Request):
    """A Starlette request whose body has been read, and whose ``json`` reads forms too."""

    def __init__(self, scope: Scope, body: bytes) -> None:
        super().__init__(scope, _no_more)
        self._body = body  # where Starlette keeps a body that was read
        self._parsed: Any = _NOTHING

    @property
    def is_form(self) -> bool:
        """Whether the body is an urlencoded or multipart form."""
        return self.media_type in _FORMS

    @property
    def media_type(self) -> str:
        """What the client calls its body, without parameters; "" when it says nothing."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()

    @property
    def is_readable(self) -> bool:
        """Whether `json` is made for such a body; a body without a type counts as JSON."""
        media = self.media_type
        return not media or media in _FORMS or _JSON.fullmatch(media) is not None

    async def json(self) -> Any:
        """Return the body: JSON as it is, a form as a dict (repeated keys become lists).

        Raises BadBody (status 400) when it cannot be parsed.
        """
        if self._parsed is _NOTHING:
            self._parsed = (
                form_values(await self.parsed_form()) if self.is_form else parse_json(self._body)
            )
        return self._parsed

    def at(self, scope: Scope) -> ActionRequest:
        """Return a request with the same body and another scope."""
        return ActionRequest(scope, self._body)

    async def parsed_form(self) -> FormData:
        """Return the form's fields and files. Raises BadBody for a broken form."""
        if self._body.count(b"&") > _MOST_FIELDS and not self.may_hold_files:
            raise BadBody(f"The form has more than {_MOST_FIELDS} fields.")
        try:
            return await self.form()
        except (MultiPartException, HTTPException) as error:
            detail = getattr(error, "message", None) or getattr(error, "detail", "")
            raise BadBody(f"The form could not be parsed: {detail}") from error

    @property
    def may_hold_files(self) -> bool:
        """Whether its form may have files, which `close` deletes."""
        return self.media_type == _FORMS[1]

    @property
    def has_body(self) -> bool:
        """Whether the client sent anything."""
        return bool(self._body)


_NOTHING: Any = object()


def parse_json(body: bytes) -> Any:
    """Return the value of a JSON body. Raises BadBody."""
    if not body.strip():
        raise BadBody("The body is empty; JSON was expected.")
    try:
        return msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadBody(f"The body is not valid JSON: {error}") from error


def form_values(form: FormData) -> dict[str, Any]:
    """Return a form as a dict; a key that comes more than once has a list."""
    values: dict[str, list[Any]] = {}
    for key, value in form.multi_items():
        values.setdefault(key, []).append(value)
    return {key: several[0] if len(several) == 1 else several for key, several in values.items()}


def shown_again(values: Mapping[str, Any]) -> dict[str, str | list[str]]:
    """Return what of a form's values its page may be filled with again.

    That is text. Files stay away, and what nobody should find in a page: fields whose
    name contains ``password``, ``passphrase``, ``secret`` or ``token``, in any case, or
    begins with ``_``. So does what does not fit into `MOST_SHOWN`.
    """
    shown: dict[str, str | list[str]] = {}
    left = MOST_SHOWN
    for name, value in values.items():
        if name.startswith("_") or any(word in name.lower() for word in _PRIVATE):
            continue
        texts = [item for item in _listed(value) if isinstance(item, str)]
        size = len(name) + sum(map(len, texts))
        if size <= left and (texts or isinstance(value, list)):
            shown[name] = texts if isinstance(value, list) else texts[0]
            left -= size
    return shown


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
