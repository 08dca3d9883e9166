"""The audience of a file: everybody, for as long as the file is there.

It writes down what code reads of a request that a file cannot have.
"""

from __future__ import annotations

from collections.abc import Iterator

import attrs
import msgspec
from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.types import Message, Scope

from fxtrio.serve.cache.anonymous_request import AnonymousRequest, Reads
from fxtrio.serve.request.response.response import Answer, ResponseDraft
from fxtrio.spans import calling_place

_REMEDY = "Load it in the browser"


async def _nothing() -> Message:
    return {"type": "http.request", "body": b"", "more_body": False}


class PlacedReads(Reads, eq=False):
    """What code has read of a request, and where."""

    places: dict[str, str] = msgspec.field(default_factory=dict)
    """Name of the hook, or "", to the first line of the application that read something."""

    def add(self, name: str) -> None:
        """Write down that ``name`` was read, and by which line."""
        super().add(name)
        if self.hook not in self.places:
            self.places[self.hook] = calling_place()

    def by_reader(self, source: str) -> Iterator[tuple[str, str, str, str]]:
        """Yield where the file ``source`` is at fault, who reads, the remedy, and what is read.

        ``source`` may have a line, which is replaced where the file itself reads.
        """
        file = source.partition(":")[0]
        for hook, names in sorted(self.found.items()):
            read = ", ".join(sorted(names))
            if hook:
                yield source, f"the route hook {hook}", "Let the hook use only the path", read
                continue
            reader, _, line = self.places[hook].rpartition(":")
            if reader == file or reader.endswith(f"/{file}"):
                yield f"{file}:{line}", "its code", _REMEDY, read
            else:
                yield source, self.places[hook] or "its code, or a layout's,", _REMEDY, read


class ExportRequest(AnonymousRequest):
    """The request that hooks and loaders receive: it has a URL, and nobody who sent it."""

    @property
    def query_params(self) -> QueryParams:
        """No query: a host of files answers all of them with the same file."""
        self._reads.add("request.query_params")
        return QueryParams()


@attrs.define(eq=False)
class ExportAudience:
    """The audience of one file (`fxtrio.serve.request.audience`)."""

    streams: bool = attrs.field(default=False, init=False)
    personal: bool = attrs.field(default=False, init=False)
    reads: PlacedReads = attrs.field(factory=PlacedReads, init=False)
    admitted: bool = attrs.field(default=False, init=False)
    """Whether the route hooks let the request continue."""

    hook: str = attrs.field(default="", init=False)
    """The route hook that ran last."""

    degraded: bool = attrs.field(default=False, init=False)
    """Whether the page could not be rendered here."""

    def connect(self, scope: Scope) -> Request:
        """Return a request that records what code reads of it."""
        return ExportRequest(scope, _nothing, self.reads)

    def ask(self, hook: str) -> None:
        """Attribute all further reads to ``hook``."""
        self.reads.hook = hook
        self.hook = hook or self.hook

    def admit(self, draft: ResponseDraft) -> None:
        """Note that the hooks let the request continue."""
        self.admitted = True

    def nonce(self) -> bytes:
        """Return none: a file that is always the same has no secret."""
        return b""

    def time_to_live(self, revalidate: float | None) -> float:
        """Return 0: the browser's own cache keeps files."""
        return 0

    def leave_to_browser(self) -> None:
        """Note that the renderer failed."""
        self.degraded = True

    def translate(self) -> None:
        """A file has the messages of a request of nobody."""

    def take(self, answer: Answer, draft: ResponseDraft) -> Answer:
        """Return the response unchanged."""
        return answer
