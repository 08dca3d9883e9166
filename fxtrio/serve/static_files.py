"""Static files: hashed assets of the build, and the project's `public` folder."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from mimetypes import guess_type
from pathlib import Path

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.responses import FileResponse, Response
from starlette.staticfiles import NotModifiedResponse, StaticFiles
from starlette.types import Scope

from fxtrio.asgi_extensions import SAME_FOR_ALL
from fxtrio.compression.accept_encoding import read_accepted
from fxtrio.compression.precompressed import Compressed, CompressedFile
from fxtrio.serve.request.event import RequestEvent

_IMMUTABLE = "public, max-age=31536000, immutable"
_REVALIDATE = "public, max-age=0, must-revalidate"

_HIDDEN = re.compile(r"/\.(?!well-known/)")
"""A file or folder that is hidden, such as `.git`; `.well-known` is public
(RFC 8615)."""

_LONGEST_RANGE = 200
"""Longer ones ask for thousands of parts, each of which is a read in a thread (bytes)."""


class Folder:
    """Files below one folder, with ETag and ranges; nothing outside it.

    Of a listed build the source maps stay here: they hold the code of the pages. Of other
    folders hidden files do.
    """

    def __init__(
        self,
        path: Path,
        *,
        immutable: bool,
        listed: bool,
        compressed: Compressed,
        cache_of: Callable[[str], str | None] | None = None,
    ) -> None:
        """``listed`` reads the names once, so that a URL that is no file costs no system call.

        ``compressed`` are the files of which there are compressed forms; ``cache_of``
        returns the `Cache-Control` that the settings have for a name.
        """
        self._compressed = compressed
        self._cache_of = cache_of
        self._path = path
        self._files = StaticFiles(directory=path, check_dir=False)
        self._immutable = immutable
        self._cache = _IMMUTABLE if immutable else _REVALIDATE
        self._names: frozenset[str] | None = None
        if listed:
            names = (
                "/" + found.relative_to(path).as_posix()
                for found in path.rglob("*")
                if found.is_file()
            )
            self._names = frozenset(name for name in names if self._is_open(name))

    @property
    def names(self) -> frozenset[str]:
        """The names of a listed folder's files, with leading slashes."""
        return self._names or frozenset()

    def _is_open(self, name: str) -> bool:
        return not (name.endswith(".map") if self._immutable else _HIDDEN.search(name))

    def may_have(self, name: str) -> bool:
        """Whether a file of that name, with its leading slash, may exist."""
        if self._names is not None:
            if name in self._names:
                return True
            if not self._immutable or not self._is_open(name):
                return False
            # Of a build: one of the next build, which another process may serve already.
        elif not self._immutable and not self._is_open(name):
            return False
        return name != "/" and os.path.isfile(f"{self._path}{name}")  # noqa: PTH113  # never raises

    async def answer(self, event: RequestEvent, name: str) -> Response | None:
        """Return the file, 304 or a range of it; None when there is no such file."""
        if not self.may_have(name):
            return None
        if b"range" in event.headers:
            _drop_long_range(event.scope)
        file = self._compressed.get(name)
        response = None if file is None else self._answer_compressed(event, name, file)
        try:
            response = response or await self._files.get_response(name[1:], event.scope)
        except HTTPException as error:
            if error.status_code == 405:
                return Response(status_code=405, headers={"allow": "GET, HEAD"})
            return None
        if file is not None:
            response.headers["vary"] = "accept-encoding"
        policy = None if self._cache_of is None else self._cache_of(name)
        response.headers.setdefault("cache-control", policy or self._cache)
        event.scope[SAME_FOR_ALL] = True
        return response

    def _answer_compressed(
        self, event: RequestEvent, name: str, file: CompressedFile
    ) -> Response | None:
        """Return a file in the coding that is wanted; None when it is wanted as it is.

        Each form has its own entity tag, so that ranges of one are not joined to another's.
        """
        accept_encoding = event.headers.get(b"accept-encoding")
        if accept_encoding is None or event.scope["method"] not in ("GET", "HEAD"):
            return None
        coding = read_accepted(accept_encoding).best(tuple(file.encodings))
        form = None if coding is None else file.find(coding)
        if coding is None or form is None:
            return None
        try:
            state = os.stat(form)  # noqa: PTH116  # twice as fast
        except OSError:  # of a build that was deleted
            return None
        media = guess_type(name)[0] or "text/plain"
        response = FileResponse(form, media_type=media, stat_result=state)
        response.headers["etag"] = f'{response.headers["etag"][:-1]}-{coding}"'
        if self._files.is_not_modified(response.headers, Headers(scope=event.scope)):
            return NotModifiedResponse(response.headers)
        response.headers["content-encoding"] = coding
        return response


def _drop_long_range(scope: Scope) -> None:
    """Take a `Range` of many parts out of a request, which may be ignored (RFC 9110, 14.2)."""
    headers = scope["headers"]
    if sum(len(value) for name, value in headers if name == b"range") > _LONGEST_RANGE:
        scope["headers"] = [header for header in headers if header[0] != b"range"]
