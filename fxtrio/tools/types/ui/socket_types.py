"""`useWebSocket` as the UI halves see it: what arrives from which path of the app. Pure.

A path is looked up as the server does it, the most specific page first: one that serves no
WebSocket stands before a page with a parameter that does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from fxtrio.tools.types.gather.page_types import PageTypes
from fxtrio.tools.types.python.shapes import (
    Constant,
    Definition,
    ObjectShape,
    Shape,
    parts_of,
    union,
)
from fxtrio.tools.types.ui.typescript import Printer

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
"""The second is for messages whose type is written down: so that unknown types can be reported."""


def sockets_module(pages: Sequence[PageTypes], *, loose: bool) -> str:
    """Return the declarations of `useWebSocket` and of what each page's WebSocket sends."""
    serving = {number: one for number, one in enumerate(pages) if one.pattern and one.messages}
    definitions: dict[str, Definition] = {}
    for page in serving.values():
        definitions.update((one.name, one) for one in page.definitions)
    printer = Printer.of(definitions.values(), loose=loose)
    sent = [
        f"export type {message_name(number)} = {message_text(page, printer)};"
        for number, page in serving.items()
    ]
    declared = [printer.definitions(definitions.values(), prefix="export "), *sent]
    pages_sent = "; ".join(f"{number}: {message_name(number)}" for number in serving)
    own = "\n".join(declared)
    return f"""import type * as base from "fx/base";
import type {{ At, Nowhere, Outside }} from "fx/paths";
interface $None {{ readonly none: unique symbol }}
{own}
interface $Pages {{ {pages_sent} }}
type $IsAny<T> = 0 extends 1 & T ? true : false;
type $Beside<Path extends string> =
  Path extends `/${{string}}` ? [Outside<Path>] extends [never] ? $None : any : any;
type $Of<Path extends string, Page> = Page extends keyof $Pages ? $Pages[Page]
  : Page extends number ? $Beside<Path> : any;
type $Found<Path extends string, Page> = [Page] extends [never] ? $Beside<Path> : $Of<Path, Page>;
type $At<Path extends string> = $Found<Path, At<Path>>;
type $Sent<Path, Own> = Path extends string ? $At<Path> : Own;
type $IsNone<T> = $IsAny<T> extends true ? false : [T] extends [$None] ? true : false;
type $Known<Path> =
  Path extends string ? ($IsNone<$At<Path>> extends true ? Nowhere : Path) : Path;
type $Socket<Message> = ReturnType<typeof base.useWebSocket<Message>>;
{_HOOK}"""


def message_name(number: int) -> str:
    """Return what the messages of a page are called; ``number`` counts all files of a project."""
    return f"$Message{number}"


def message_text(page: PageTypes, printer: Printer) -> str:
    """Return the type of what a page's WebSocket sends.

    Each object lacks the keys of the others, so any key can be read; but objects that are
    distinguished by a constant lack that key alone: code looks at it first.
    """
    if page.messages is None:
        return "any"
    parts = parts_of(page.messages)
    objects = {part: found for part in parts if (found := _object(page, part)) is not None}
    telling = _telling(objects.values())
    if not telling:
        return printer.type(union(objects.get(part, part) for part in parts))
    return " | ".join(_apart(part, objects.get(part), telling, printer) for part in parts)


def _object(page: PageTypes, shape: Shape) -> ObjectShape | None:
    found = page.definition(shape)
    return found if isinstance(found, ObjectShape) else None


def _telling(objects: Iterable[ObjectShape]) -> list[str]:
    """Return the keys under which at least two objects have a constant."""
    names = Counter(
        key.name
        for found in objects
        for key in found.keys
        if isinstance(key.shape, Constant) and not key.optional
    )
    return [name for name, count in names.items() if count > 1]


def _apart(part: Shape, found: ObjectShape | None, telling: Sequence[str], printer: Printer) -> str:
    own = {key.name for key in found.keys} if found is not None else set(telling)
    missing = [name for name in telling if name not in own]
    if found is None or not missing:
        return printer.type(part)
    return printer.object(found, missing)
