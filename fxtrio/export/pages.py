"""Captures the pages of an app, several at a time, and everything that belongs to each."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import attrs
import trio
from starlette.types import ASGIApp

from fxtrio.export.capture import Captured, capture
from fxtrio.export.errors import Finding
from fxtrio.export.html import Document, read_document
from fxtrio.export.place import Place
from fxtrio.export.plan import SERVER
from fxtrio.export.site_files import Moved
from fxtrio.markdown.paths import markdown_path

Progress = Callable[[int, int], None]
"""Gets the number of pages that are done, and of all."""


@attrs.frozen
class Target:
    """A page to capture."""

    path: str
    """Decoded, without the base."""

    pattern: str
    sources: tuple[str, ...]
    """Its file, then those of its layouts, innermost first."""


@attrs.frozen(kw_only=True)
class CapturedPage:
    """What a page came to."""

    target: Target
    html: bytes = b""
    document: Document | None = None
    payload: bytes | None = None
    """For the client router; None for a site without scripts."""

    markdown: bytes | None = None
    """None for a page without Markdown."""

    moved: Moved | None = None
    """Where it leads, for one that only redirects."""

    findings: tuple[Finding, ...] = ()
    """Why it can be no file."""


@attrs.frozen
class Capturing:
    """How pages are captured."""

    app: ASGIApp
    place: Place
    payloads: bool
    """Whether a page of the site has scripts, which load payloads."""

    markdown: bool
    """Whether pages may have Markdown."""

    async def all(
        self, targets: Sequence[Target], *, jobs: int, progress: Progress
    ) -> list[CapturedPage]:
        """Return what each target came to, in their order; ``jobs`` are captured at a time."""
        results: list[CapturedPage | None] = [None] * len(targets)
        unfinished = iter(enumerate(targets))
        done = 0

        async def work() -> None:
            nonlocal done
            for index, target in unfinished:
                results[index] = await self.one(target)
                done += 1
                progress(done, len(targets))

        async with trio.open_nursery() as nursery:
            for _ in range(min(jobs, len(targets))):
                nursery.start_soon(work)
        return [result for result in results if result is not None]

    async def one(self, target: Target) -> CapturedPage:
        """Return what one page came to."""
        source = target.sources[0]
        html = await capture(self.app, self.place, target.path, "html", source=source)
        findings = _reasons(html, target)
        if findings:
            return CapturedPage(target=target, findings=findings)
        payload = markdown = None
        if self.payloads:
            payload, findings = await self.payload(target)
        if html.location:
            moved = Moved(target.path, html.location, html.status)
            return CapturedPage(target=target, payload=payload, moved=moved, findings=findings)
        if self.markdown:
            path = markdown_path(target.path)
            answer = await capture(self.app, self.place, path, "text", source=source)
            if answer.status == 200 and answer.media == "text/markdown":
                markdown = answer.body
                findings += answer.findings
            elif not answer.location:  # which leads to the page, where nothing gives Markdown
                wrong = wrong_status(answer, target.path, source, "as Markdown")
                findings += (wrong, *answer.findings)
        return CapturedPage(
            target=target,
            html=html.body,
            document=read_document(html.body.decode(errors="replace")),
            payload=payload,
            markdown=markdown,
            findings=tuple(dict.fromkeys(findings)),
        )

    async def payload(self, target: Target) -> tuple[bytes, tuple[Finding, ...]]:
        """Return the payload of a page, and why it can be no file."""
        source = target.sources[0]
        answer = await capture(self.app, self.place, target.path, "payload", source=source)
        findings = answer.findings
        if answer.status != 200:
            findings = (*findings, wrong_status(answer, target.path, source, "as data"))
        return answer.body, findings


def _reasons(answer: Captured, target: Target) -> tuple[Finding, ...]:
    """Return why a page's HTML can be no file."""
    if answer.findings or answer.location or answer.status == 200:
        if not answer.findings and not answer.location and answer.media != "text/html":
            cause = f"{target.path} is {answer.media or 'without a type'}, not HTML"
            return (Finding(target.sources[0], cause, SERVER),)
        return answer.findings
    return (wrong_status(answer, target.path, target.sources[0], "as HTML"),)


def wrong_status(answer: Captured, path: str, source: str, form: str) -> Finding:
    """Return that a response has a status that no file has."""
    remedy = "Fix the error in the log above, or leave the page out of the export"
    return Finding(source, f"{path} responds with {answer.status} {form}", remedy)
