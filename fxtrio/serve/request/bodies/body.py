"""Request bodies of actions: read whole within a limit, parsed by their type.

JSON, urlencoded and multipart bodies all come out of ``await request.json()``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Coroutine, Mapping
from typing import Any, TypeVar, TypeVarTuple

from starlette.types import Receive, Scope

from fxtrio.serve.request.bodies.forms import MULTIPART, URLENCODED, form_values, media_type
from fxtrio.serve.request.bodies.spool import Body
from fxtrio.serve.request.requests import BodyRequest

MAX_REFILL = 256 * 1024
"""Form text that is sent back to refill the form (characters): a ``<`` takes up to 10 bytes."""

_PRIVATE_PARTS = re.compile(
    "password|passwd|passphrase|passcode|pwd|secret|token|securitycode|onetimecode|cardnumber"
    "|apikey|privatekey|accesskey"
)
_PRIVATE_WORDS = frozenset(
    {"pass", "pin", "otp", "totp", "tan", "cvv", "cvc", "csc", "ssn", "iban"}
)
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_JSON = re.compile(r"(?:application|text)/(?:[a-z0-9.-]+\+)?json")

T = TypeVar("T")
Ts = TypeVarTuple("Ts")


async def read_body(receive: Receive, headers: Mapping[bytes, bytes], *, limit: int) -> bytes:
    """Return the complete body of a request that allows only a small one.

    Raises BodyTooLarge as soon as it is known to be over ``limit`` bytes, also
    for chunked bodies, and ClientDisconnect when the client disconnects early.
    """
    body = Body(receive, headers, limit=limit)
    await body.read()
    return await body.data()


class ActionRequest(BodyRequest):
    """A request whose body has been read, and whose ``json`` reads forms too."""

    @property
    def is_form(self) -> bool:
        """Whether the body is an urlencoded or multipart form."""
        return self.media_type in (URLENCODED, MULTIPART)

    _media_type: str | None = None

    @property
    def media_type(self) -> str:
        """The media type that the client declares, without parameters; "" for none."""
        known = self._media_type
        if known is None:
            known = self._media_type = media_type(self._held.content_type)
        return known

    @property
    def is_readable(self) -> bool:
        """Whether `json` can parse this type of body; a body without a type counts as JSON."""
        media = self.media_type
        return not media or self.is_form or _JSON.fullmatch(media) is not None

    def json(self) -> Coroutine[Any, Any, Any]:
        """Return the body: JSON as it is, a form as a dict (repeated keys become lists).

        Raises BadBody (status 400) when it cannot be parsed, and CharsetUnsupported (415).
        """
        return self._form_values() if self.is_form else super().json()

    async def _form_values(self) -> Any:
        return form_values(await self.form())

    async def read_json(self) -> Any:
        """Read and parse the body as `json` does; return an empty object for an empty body."""
        await self._held.read()
        return await self.json() if self.has_body else {}

    def rewind(self) -> None:
        """Let the body be parsed again, with new files."""
        self._held.rewind()

    def forget(self) -> None:
        """Close the body and its files."""
        self._held.close()

    def at(self, scope: Scope) -> ActionRequest:
        """Return a request with the same body and another scope."""
        return ActionRequest(scope, self._held)

    async def work(self, function: Callable[[*Ts], T], *args: *Ts) -> T:
        """Return ``function(*args)``, which looks at the body: in a thread when that is large."""
        return await self._held.work(function, *args)

    @property
    def has_body(self) -> bool:
        """Whether the client sent anything."""
        return self._held.size > 0


def refill_values(values: Mapping[str, Any]) -> dict[str, str | list[str]]:
    """Return the form values that may be rendered back into the form.

    Only text is returned. Files, fields with a private name (`is_private`) and values beyond
    `MAX_REFILL` characters in total are left out.
    """
    refill: dict[str, str | list[str]] = {}
    left = MAX_REFILL
    for name, value in values.items():
        if is_private(name):
            continue
        texts = [item for item in _listed(value) if isinstance(item, str)]
        size = len(name) + sum(map(len, texts))
        if size <= left and (texts or isinstance(value, list)):
            refill[name] = texts if isinstance(value, list) else texts[0]
            left -= size
    return refill


def is_private(name: str) -> bool:
    """Whether a field's name marks its value as a secret that no page should repeat.

    It begins with ``_``, contains ``password``, ``token`` or the like in any writing
    (``api_key``, ``apiKey``), or has one of the words ``pin``, ``cvv``, … (``card-pin``,
    ``cardPin``, but not ``shipping``).
    """
    if name.startswith("_"):
        return True
    if _PRIVATE_PARTS.search(re.sub(r"[\W_]", "", name).lower()):
        return True
    return any(word.lower() in _PRIVATE_WORDS for word in _WORD.findall(name))


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
