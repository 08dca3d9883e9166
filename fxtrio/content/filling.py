"""Puts what other files have into the tokens of a Markdown file: code, and where links lead."""

from __future__ import annotations

import re
from collections.abc import Callable
from posixpath import dirname, normpath
from urllib.parse import unquote, urlsplit

import attrs
from markdown_it.token import Token

from fxtrio.content.included import NotIncluded, cut, read_fence
from fxtrio.content.mistakes import Mistake

Read = Callable[[str], str]
"""Returns the text of a file of the project, by its POSIX path. Raises OSError and ValueError."""

Locate = Callable[[str, bool], str]
"""``locate(path, is_image)`` returns what stands for a file of the project in ``href`` or ``src``.

Raises `NotIncluded` for one that cannot be linked to.
"""

_TOC = re.compile(r"[ \t]*+<Toc[ \t]*+/>[ \t]*+\n?", re.IGNORECASE)


@attrs.frozen
class Change:
    """Lines of the file that agents get in another form."""

    first: int
    """From 0."""

    end: int
    """Behind the last."""

    apply: Callable[[str], str]
    """Returns the new text of the lines."""


@attrs.define(eq=False)
class Filling:
    """Fills the tokens of one file. Its mistakes are added to ``mistakes``."""

    path: str
    read: Read
    locate: Locate
    mistakes: list[Mistake]
    included: set[str] = attrs.field(factory=set)
    changes: list[Change] = attrs.field(factory=list)
    """In the order of their lines, those of the same lines in any order."""

    def fill(self, tokens: list[Token]) -> None:
        """Change ``tokens`` in place."""
        for token in tokens:
            line = token.map[0] + 1 if token.map else 1
            if token.type == "fence":
                self._fill_fence(token, line)
            elif token.type == "html_block" and _TOC.fullmatch(token.content) and token.map:
                self.changes.append(Change(token.map[0], token.map[1], lambda _: ""))
            for child in token.children or ():
                name = {"link_open": "href", "image": "src"}.get(child.type, "")
                url = child.attrGet(name) if name else None
                if isinstance(url, str):
                    found = self._target(url, name == "src", line)
                    child.attrSet(name, found)
                    if name == "href" and found != url and token.map:
                        self.changes.append(
                            Change(token.map[0], token.map[1], _renaming(url, found))
                        )

    def _fill_fence(self, token: Token, line: int) -> None:
        fence = read_fence(token.info)
        if not fence.file:
            return
        token.info = fence.language
        file = fence.file.removeprefix("./")
        self.included.add(file)
        try:
            if token.content.strip():
                cause = f"the block that includes {file} also contains code"
                raise NotIncluded(cause, 'Remove the code, or file="…"')
            token.content = cut(self._text(file), fence)
        except NotIncluded as error:
            self.mistakes.append(Mistake(line, error.cause, error.remedy))
        else:
            assert token.map is not None  # as each block has
            self.changes.append(Change(token.map[0], token.map[1], _coding(token.content)))

    def _text(self, file: str) -> str:
        if file.startswith("/") or ".." in file.split("/"):
            raise NotIncluded(
                f"{file!r} is not a file of the project",
                "Write a path relative to the project folder",
            )
        try:
            return self.read(file)
        except OSError as error:
            cause = f"{file} cannot be read: {error.strerror}"
            raise NotIncluded(cause, "Write a path relative to the project folder") from error
        except ValueError as error:
            raise NotIncluded(f"{file} is not text in UTF-8", "Save it as UTF-8") from error

    def _target(self, url: str, is_image: bool, line: int) -> str:
        """Return a URL of the site for a path relative to this file; other URLs as they are."""
        try:
            parts = urlsplit(url)
        except ValueError:
            self.mistakes.append(
                Mistake(line, f"{url!r} is not a URL", "Write '[' and ']' as %5B and %5D")
            )
            return url
        if parts.scheme or parts.netloc or not parts.path or parts.path.startswith("/"):
            return url
        named = normpath(f"{dirname(self.path)}/{unquote(parts.path)}")
        try:
            found = self.locate(named, is_image)
        except NotIncluded as error:
            self.mistakes.append(Mistake(line, f"{url!r} {error.cause}", error.remedy))
            return url
        query = f"?{parts.query}" if parts.query else ""
        return found + query + (f"#{parts.fragment}" if parts.fragment else "")

    def expanded(self, body: str) -> str:
        """Return the Markdown as agents get it: with the code, and with URLs of the site."""
        lines = body.splitlines(keepends=True)
        for change in reversed(self.changes):
            whole = change.apply("".join(lines[change.first : change.end]))
            # The text stays as many items, so that the places of others hold.
            lines[change.first : change.end] = [whole, *[""] * (change.end - change.first - 1)]
        return "".join(lines)


def _renaming(url: str, found: str) -> Callable[[str], str]:
    """Return what replaces a relative URL in the lines of a paragraph."""

    def apply(text: str) -> str:
        for end in (")", " "):
            text = text.replace(f"]({url}{end}", f"]({found}{end}")
        return text

    return apply


def _coding(code: str) -> Callable[[str], str]:
    """Return what puts code between the two lines of a fenced block."""

    def apply(block: str) -> str:
        opening, *rest = block.splitlines(keepends=True)
        fence = re.match(r"\s*+(?:`{3,}+|~{3,}+)", opening)
        indent = opening[: len(opening) - len(opening.lstrip())]
        info = opening[fence.end() :].split() if fence else []
        language = next((one for one in info[:1] if "=" not in one), "")
        inner = "".join(indent + line for line in code.splitlines(keepends=True))
        return f"{fence[0] if fence else ''}{language}\n{inner}{rest[-1] if rest else ''}"

    return apply
