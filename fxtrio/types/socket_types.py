"""`useWebSocket` as the UI halves see it: what arrives from which path of the app. Pure.

A path is looked up as the server does it, the most specific page first: one that serves no
WebSocket stands before a page with a parameter that does.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence

from fxtrio.routes.pattern import Kind, Segment, parse_pattern, specificity
from fxtrio.types.page_types import PageTypes
from fxtrio.types.paths import path_types
from fxtrio.types.shapes import Definition, ObjectShape, Shape, Vague, parts_of, union
from fxtrio.types.typescript import Printer

_HOOK = """interface $Untold { readonly untold: unique symbol }
export interface UseWebSocket<Own> {
  <Message = Own>(
    path?: undefined,
    options?: base.WebSocketOptions<NoInfer<Message>>,
  ): $Socket<Message>;
  <Message = $Untold>(
    path: Message extends $Untold ? never : string,
    options?: base.WebSocketOptions<NoInfer<Message>>,
  ): $Socket<Message>;
  <const Path extends string | undefined>(
    path: Path & $Known<Path>,
    options?: base.WebSocketOptions<$Sent<Path, Own>>,
  ): $Socket<$Sent<Path, Own>>;
}
"""
"""The second is for messages whose type is written down: so it can be told what nobody knows."""


def sockets_module(pages: Sequence[PageTypes], others: Iterable[str]) -> str:
    """Return the declarations of `useWebSocket` and of what each page's WebSocket sends.

    ``others`` are the types of paths that something besides the pages answers.
    """
    serving = {number: one for number, one in enumerate(pages) if one.pattern and one.messages}
    definitions: dict[str, Definition] = {}
    for page in serving.values():
        definitions.update((one.name, one) for one in page.definitions)
    printer = Printer.of(definitions.values())
    sent = [
        f"type {message_name(number)} = {printer.type(message_type(page))};"
        for number, page in serving.items()
    ]
    paths = sorted({one for page in serving.values() for one in path_types(page.pattern)})
    declared = [printer.definitions(definitions.values(), prefix="export "), *sent]
    declared += _lookup(pages)
    own = "\n".join(declared)
    return f"""import type * as base from "fx/base";
import type {{ Elsewhere, NoSegment, PathOf }} from "fx/shared";
interface $None {{ readonly none: unique symbol }}
type $Paths = {" | ".join(paths) or "never"};
type $Others = {" | ".join(sorted(set(others))) or "never"};
{own}
type $IsAny<T> = 0 extends 1 & T ? true : false;
type $Beside<Path> = Path extends $Others | Elsewhere ? any
  : Path extends `/${{string}}` ? Extract<$Paths, Path> extends never ? $None : any : any;
type $Found<Path, Page> = $IsAny<Page> extends true ? any
  : [Page] extends [$None] ? $Beside<Path> : Page;
type $On<Path extends string> = $Found<Path, $Page0<Path>>;
type $At<Path extends string> = string extends Path ? any : $On<PathOf<Path>>;
type $Sent<Path, Own> = Path extends string ? $At<Path> : Own;
type $IsNone<T> = $IsAny<T> extends true ? false : [T] extends [$None] ? true : false;
type $Unfit<Path> = Path extends $Paths ? never : $Paths;
type $Known<Path> =
  Path extends string ? ($IsNone<$At<Path>> extends true ? $Unfit<Path> : Path) : Path;
type $Socket<Message> = ReturnType<typeof base.useWebSocket<Message>>;
{_HOOK}"""


def message_name(number: int) -> str:
    """Return what the messages of a page are called; ``number`` counts all files of a project."""
    return f"$Message{number}"


def message_type(page: PageTypes) -> Shape:
    """Return what a page's WebSocket sends, each object written out.

    So each lacks the keys of the others, and any key can be asked for.
    """
    if page.messages is None:
        return Vague("it serves no WebSocket")
    objects = (page.definition(part) for part in parts_of(page.messages))
    parts = zip(parts_of(page.messages), objects, strict=True)
    return union(one if isinstance(one, ObjectShape) else part for part, one in parts)


def _lookup(pages: Sequence[PageTypes]) -> Iterator[str]:
    """Yield a type for each page that may answer, which names the next one."""
    kept = [(number, one) for number, one in enumerate(pages) if one.pattern]
    serving = [parse_pattern(one.pattern) for _, one in kept if one.messages is not None]
    index = 0
    for number, page in sorted(kept, key=lambda one: specificity(one[1].pattern)):
        own = parse_pattern(page.pattern)
        if page.messages is None and not any(_overlap(own, one) for one in serving):
            continue
        sent = "$None" if page.messages is None else message_name(number)
        is_optional = own[-1:] and own[-1].kind is Kind.OPTIONAL_REST
        for segments in [own[:-1], own] if is_optional else [own]:
            other = f"$Page{index + 1}<Path>"
            yield f"type $Page{index}<Path> = {_tested(segments, sent, other)};"
            index += 1
    yield f"type $Page{index}<Path> = $None;"


def _overlap(one: tuple[Segment, ...], other: tuple[Segment, ...]) -> bool:
    """Whether some path may fit both."""
    for left, right in zip(one, other, strict=False):
        if max(left.kind, right.kind) >= Kind.REST:
            return True
        if left.kind is right.kind is Kind.LITERAL and left.text != right.text:
            return False
    longer = max(one, other, key=len)[min(len(one), len(other)) :]
    return not longer or longer[0].kind is Kind.OPTIONAL_REST


def _tested(segments: tuple[Segment, ...], found: str, other: str) -> str:
    """Return ``found`` where a type ``Path`` fits the segments, else ``other``."""
    text, inner = "", found
    for number, segment in enumerate(segments):
        if segment.kind is Kind.LITERAL:
            text += f"/{segment.text}"
        else:
            text += f"/${{infer Part{number}}}"
            unfit = "NoSegment" if segment.kind is Kind.PARAM else '""'
            inner = f"Part{number} extends {unfit} ? {other} : {inner}"
    shown = f"`{text}`" if "${" in text else json.dumps(text or "/", ensure_ascii=False)
    return f"Path extends {shown} ? {inner} : {other}"
