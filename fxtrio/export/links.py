"""Checks that what exported pages refer to is there. Pure."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterator, Mapping
from posixpath import dirname, normpath
from urllib.parse import unquote, urljoin, urlsplit

import attrs

from fxtrio.export.errors import Finding
from fxtrio.export.html import Document
from fxtrio.export.place import Place
from fxtrio.export.plan import Text

_TOP = frozenset({"", "top"})
_TEXT_FRAGMENT = ":~:"
_IN_MARKDOWN = re.compile(r"\](?:\(|:[ \t]*+)<?+([^)\s>]++)")
"""What a link in Markdown leads to: ``[x](y)``, or ``[x]: y``."""


@attrs.frozen
class Page:
    """A page of the export, for its links."""

    path: str
    """Decoded, without the base."""

    sources: tuple[str, ...]
    """Its file, then those of its layouts: where a link may be written."""

    document: Document | None
    """None for one that only redirects."""

    moved: str = ""
    """The URL that it redirects to."""


_MOST_GUESSES = 50
"""Missing paths for which a similar one is looked for: 0.2 s each among 5,000."""


@attrs.frozen
class LinkCheck:
    """What there is to refer to."""

    place: Place
    pages: Mapping[str, Page]
    """By path; also those that only redirect."""

    files: frozenset[str]
    """Decoded paths of all other files, with a leading slash."""

    left_out: Callable[[str], Finding | None]
    """Returns why the page at a decoded path is no part of the export, if that is known."""

    text: Text
    _by_source: Mapping[str, str] = attrs.field(init=False)
    """The paths of pages by their files."""

    _remedies: dict[str, str] = attrs.field(factory=dict, init=False)
    """What to do about a missing path, by path: each may be linked to by every page."""

    @_by_source.default
    def _pages_by_source(self) -> Mapping[str, str]:
        return {page.sources[0]: page.path for page in self.pages.values() if page.sources}

    def findings(self) -> tuple[list[Finding], list[Finding]]:
        """Return links that lead nowhere, and links to pages that are left out."""
        broken: dict[Finding, list[str]] = {}
        missing: dict[Finding, list[str]] = {}
        for page in self.pages.values():
            for href, cause, remedy, known in self._causes(page):
                place = self._place(page, href)
                to = "redirects to " if page.document is None else ""
                which = ", which " if page.document is None else " "
                found = Finding(place, f"{to}{href!r}{which}{cause}", remedy)
                (missing if known else broken).setdefault(found, []).append(page.path)
        return list(map(_with_pages, broken.items())), list(map(_with_pages, missing.items()))

    def _causes(self, page: Page) -> Iterator[tuple[str, str, str, bool]]:
        """Yield URL, cause and remedy of each link that leads nowhere, and if that is known."""
        if page.document is None:
            found = self._wrong(page, page.moved)
            if found is not None:
                yield page.moved, *found
            return
        for href in page.document.links:
            found = self._wrong(page, href)
            if found is not None:
                yield href, *found
        for action in page.document.posts:
            target = urlsplit(urljoin(self.place.absolute(page.path), action))
            if target.netloc in ("", self.place.host):
                remedy = "Send it to a service that takes forms, or leave the page out"
                yield action, "is the target of a form, which needs a server", remedy, False

    def _wrong(self, page: Page, href: str) -> tuple[str, str, bool] | None:
        """Return the problem of a link, if it has one."""
        href = href.strip()
        if not href:
            return None
        if href.startswith("#"):
            return self._wrong_fragment(page, href[1:])
        try:
            relative = urlsplit(href)
            target = urlsplit(urljoin(self.place.absolute(page.path), href))
        except ValueError:
            return "is not a URL", "Write '[' and ']' as %5B and %5D", False
        if target.scheme not in ("http", "https") or target.netloc != self.place.host:
            return None
        if not (relative.scheme or relative.netloc or href.startswith(("/", "?"))):
            cause = (
                "is relative, and hosts of files serve a page with and without a slash at its end"
            )
            return cause, "Begin it with a slash", False
        return self._wrong_target(page, target.path, target.fragment)

    def _wrong_target(
        self, page: Page, url_path: str, fragment: str
    ) -> tuple[str, str, bool] | None:
        path, base = unquote(url_path), self.place.base_url
        if base and path != base and not path.startswith(base + "/"):
            # Another site of the same host, unless this one has such a page.
            if path not in self.files and (path.rstrip("/") or "/") not in self.pages:
                return None
            return (
                f"is outside of {base}",
                "Write it in JSX or HEAD, to which the base is added, or add the base",
                False,
            )
        path = path.removeprefix(base) or "/"
        if path in self.files:
            return None
        path = path.rstrip("/") or "/"
        found = self.pages.get(path)
        if found is not None:
            return self._wrong_fragment(found, fragment)
        known = self.left_out(path)
        if known is not None:
            return f"is left out of the export: {known.place}: {known.cause}", known.remedy, True
        if path not in self._remedies:
            self._remedies[path] = self._remedy(path)
        return "matches no page and no file", self._remedies[path], False

    def _remedy(self, path: str) -> str:
        """Return what to do about links to a path that does not exist."""
        base = self.place.base_url
        if base and (base + path in self.pages or base + path in self.files):
            return (
                f"It begins with {base}, so the base is not added: "
                f"write {base + base + path!r}, or choose another base"
            )
        near: list[str] = []
        if len(self._remedies) < _MOST_GUESSES:
            near = difflib.get_close_matches(path, [*self.pages, *self.files], n=1)
        return f"Did you mean {near[0]!r}?" if near else "Add the page, or remove the link"

    def _wrong_fragment(self, page: Page, fragment: str) -> tuple[str, str, bool] | None:
        name = unquote(fragment).partition(_TEXT_FRAGMENT)[0]
        # Browsers apply a fragment to where a redirect leads.
        if name in _TOP or page.document is None or name in page.document.ids:
            return None
        near = difflib.get_close_matches(name, page.document.ids, n=1)
        other = f"Did you mean '#{near[0]}'?" if near else "Give an element this id"
        return f"names {name!r}, which no element of {page.path} has as its id", other, False

    def _place(self, page: Page, href: str) -> str:
        """Return where a link is written, as far as its text shows it."""
        path = href.removeprefix(self.place.origin).removeprefix(self.place.base_url)
        written = tuple(f"{quote}{text}{quote}" for text in (href, path) for quote in "\"'`")
        for source in page.sources:
            for number, line in enumerate(self.text(source).splitlines(), 1):
                if any(one in line for one in written) or (
                    source.endswith(".md") and self._is_in_markdown(source, line, (href, path))
                ):
                    return f"{source}:{number}"
        return page.sources[0]

    def _is_in_markdown(self, source: str, line: str, hrefs: tuple[str, str]) -> bool:
        """Return whether a line of Markdown links to one of ``hrefs``, as a URL or by its file."""
        wanted = {unquote(href) for href in hrefs}
        for match in _IN_MARKDOWN.finditer(line):
            written = unquote(match[1])
            file, number_sign, fragment = written.partition("#")
            page = self._by_source.get(normpath(f"{dirname(source)}/{file}"))
            if written in wanted or f"{page}{number_sign}{fragment}" in wanted:
                return True
        return False


def _with_pages(found: tuple[Finding, list[str]]) -> Finding:
    """Return a finding that says on which pages it is."""
    finding, paths = found
    more = f" and {len(paths) - 1} more" if len(paths) > 1 else ""
    return attrs.evolve(finding, cause=f"{finding.cause} (on {paths[0]}{more})")
