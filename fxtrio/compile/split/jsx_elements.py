"""JSX elements: where tags, attributes, text and embedded code start and end."""

from __future__ import annotations

import re

import attrs

from fxtrio.compile.split.brackets import BracketKind, Brackets

# Letters of all scripts. Negated classes, since positive ones take long to compile.
_NAME = r"[^\x00-\#%-@\[-^`{-\x7f][^\x00-\#%-,/;-@\[-^`{-\x7f]*+"
_START = re.compile(rf"<\s*+(?:(?P<name>{_NAME})|(?=>))")
_END = re.compile(rf"</\s*+(?P<name>{_NAME})?\s*+>")
# ``<T,>``, ``<T extends U>``, ``<T = X>``, ``<const T>``: an arrow function's type parameters,
# which JSX cannot start with.
_TYPE_PARAMETERS = re.compile(
    r"<\s*(?:const\s+[\w$]+\s*[,>=]|(?:const\s+)?[\w$]+\s*(?:,|=(?!>)\s|extends\s+[^=>/\s]))"
)
# ``<T>(x)``: type parameters as well, unless a ``</T>`` follows somewhere.
_MAYBE_TYPE_PARAMETER = re.compile(r"<\s*(?P<name>[\w$]+)\s*>\s*\(")
_CLOSING_NAME = re.compile(r"</\s*([\w$]+)")
_TAG = re.compile(
    rf"""
    (?P<space>\s++|//[^\n]*+|/\*[^*]*+(?>(?:\*(?!/)[^*]*+)*)\*/)
  | (?P<name>{_NAME})
  | (?P<string>"[^"]*+"|'[^']*+')
  | (?P<open>\{{)
  | (?P<element>=\s*(?=<))
  | (?P<equals>=)
  | (?P<finish>/\s*>)
  | (?P<end>>)
  | (?P<types><)
    """,
    re.VERBOSE,
)
_TEXT = re.compile(r"[^<{]*+")
_TYPES = re.compile(r"=>|[<>]|\"[^\"\n]*+\"|'[^'\n]*+'|[^<>\"'=]++|[\s\S]")


@attrs.define
class JsxReader(Brackets):
    """Reads tags and children; `scanner` reads the code between them."""

    _last_closing: dict[str, int] | None = attrs.field(init=False, default=None)
    """Name to offset of the last closing tag with that name; filled when first needed."""

    @property
    def looked_beyond(self) -> bool:
        """Whether something was decided by what follows anywhere in the text."""
        return self._last_closing is not None

    def enter_element(self, offset: int) -> bool:
        """Open the element that starts at ``offset``; False when no element starts there."""
        text = self.source.text
        found = _START.match(text, offset)
        if found is None or self._is_type_parameter(offset):
            return False
        self.enter(BracketKind.TAG, offset, found["name"] or "")
        self.offset = found.end()
        return True

    def read_tag(self) -> None:
        """Read up to the end of a tag, or to the code or element in it."""
        text = self.source.text
        while True:
            found = _TAG.match(text, self.offset)
            if found is None:
                self._stray_in_tag()
                return
            kind = found.lastgroup
            self.offset = found.end()
            if kind == "end":
                frame = self.stack.pop()
                self.enter(BracketKind.CHILDREN, frame.offset, frame.name)
                return
            if kind == "finish":
                self.leave_with_value()
                return
            if kind == "open":
                self.enter(BracketKind.EXPRESSION, found.start())
                self.operand = False
                self.last = "("
                return
            if kind == "element":
                if not self.enter_element(self.offset):
                    self._stray_in_tag()
                return
            if kind == "types" and not self._skip_types(found.start()):
                return

    def read_children(self) -> None:
        """Read text up to the next tag or the next code."""
        text = self.source.text
        found = _TEXT.match(text, self.offset)
        self.offset = found.end() if found else self.offset
        if self.offset >= len(text):
            self.never_closed()
        elif text[self.offset] == "{":
            self.enter(BracketKind.EXPRESSION, self.offset)
            self.offset += 1
            self.operand = False
            self.last = "("
        elif (end := _END.match(text, self.offset)) is not None:
            if (end["name"] or "") != self.stack[-1].name:
                self.mismatch(f"</{end['name'] or ''}>", end.start())
                return
            self.offset = end.end()
            self.leave_with_value()
        elif not self.enter_element(self.offset):
            comment = text.startswith("<!--", self.offset)
            remedy = "Write a comment as {/* … */}" if comment else "Write {'<'}"
            self.give_up(self.offset, "'<' in JSX text starts no element", remedy)

    def _is_type_parameter(self, offset: int) -> bool:
        text = self.source.text
        in_children = bool(self.stack) and self.stack[-1].kind is BracketKind.CHILDREN
        if in_children:
            return False
        if _TYPE_PARAMETERS.match(text, offset) is not None:
            return True
        found = _MAYBE_TYPE_PARAMETER.match(text, offset)
        if found is None:
            return False
        if self._last_closing is None:
            closings = _CLOSING_NAME.finditer(text)
            self._last_closing = {closing[1]: closing.start() for closing in closings}
        return self._last_closing.get(found["name"], -1) < offset

    def _skip_types(self, offset: int) -> bool:
        """Pass over the type arguments of ``<Select<Option> …>``."""
        tag = self.stack[-1]
        name = _START.match(self.source.text, tag.offset)
        if name is None or name.end() != offset:
            self.give_up(tag.offset, f"the tag {tag.text} has no end", "Add '>'")
            return False
        depth = 0
        for found in _TYPES.finditer(self.source.text, offset):
            depth += (found.group() == "<") - (found.group() == ">")
            if depth == 0:
                self.offset = found.end()
                return True
        self.give_up_all(offset, "'<' is never closed", "Add '>'")
        return False

    def _stray_in_tag(self) -> None:
        text = self.source.text
        if self.offset >= len(text):
            self.never_closed()
        elif text[self.offset] in "\"'":
            quote = text[self.offset]
            message = f"the string that starts with {quote} has no end"
            self.give_up_all(self.offset, message, f"Add {quote}")
        else:
            tag = self.stack[-1].text
            self.give_up(
                self.offset,
                f"{text[self.offset]!r} does not belong in the tag {tag}",
                "Remove it, or close the tag in front of it",
            )
