"""Shapes as TypeScript, in one line each. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence

import attrs

from fxtrio.tools.types.python.shapes import (
    NOTHING_INSIDE,
    NULL,
    Constant,
    Definition,
    Key,
    ListShape,
    Named,
    ObjectShape,
    Plain,
    PromiseShape,
    RecordShape,
    Shape,
    TupleShape,
    UnionShape,
    UnknownType,
    parts_of,
)

_TAKEN = frozenset(
    {
        *("any", "unknown", "never", "object", "string", "number", "boolean", "symbol", "bigint"),
        *("null", "undefined", "void", "type", "interface", "class", "enum", "function", "var"),
        *(
            "Link",
            "Form",
            "Await",
            "Head",
            "Script",
            "Image",
            "Font",
            "Island",
            "ClientOnly",
            "Slot",
            "navigate",
            "prefetch",
        ),
        *("refresh", "invalidate", "usePathname", "useParams", "useSearchParams", "useAuth"),
        *(
            "useNavigation",
            "useAction",
            "useLoader",
            "useStream",
            "useWebSocket",
            "useNonce",
            "base",
            "shared",
        ),
        *("useData", "useLayoutData", "DataOf", "useServerInsertedHTML", "useContent", "Toc"),
        *("translateMessages", "Translate"),
        *(
            "ActionFailure",
            "NoInfer",
            "ReturnType",
            "UseWebSocket",
            "At",
            "Known",
            "Nowhere",
            "Outside",
            "PagePath",
            "ReactElement",
            "ReactNode",
        ),
        *("Record", "Blob", "Promise", "FormData", "URLSearchParams", "Array", "Extract"),
    }
)
"""Names that mean something else in the declarations."""

_IDENTIFIER = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*")


@attrs.frozen
class Printer:
    """Writes types; a class is written by its name."""

    names: Mapping[str, str] = attrs.field(factory=dict)
    """What definitions are called where the text stands, if not by their own names."""

    loose: bool = False
    """Whether it is for code without types, which tells objects apart by ``if (data.error)``."""

    @classmethod
    def of(cls, found: Iterable[Definition], *, loose: bool = False) -> Printer:
        """Return one that calls no definition like something else in the declarations."""
        return cls({one.name: f"{one.name}_" for one in found if one.name in _TAKEN}, loose)

    def type(self, shape: Shape) -> str:
        """Return a type expression."""
        if isinstance(shape, UnknownType):
            return "any"
        if isinstance(shape, Plain):
            return self._plain(shape)
        if isinstance(shape, Constant):
            return json.dumps(shape.value)
        if isinstance(shape, ListShape):
            return f"{self._inside(shape.item)}[]"
        if isinstance(shape, TupleShape):
            return f"[{', '.join(map(self.type, shape.items))}]"
        if isinstance(shape, PromiseShape):
            return f"Promise<{self.type(shape.value)}>"
        if isinstance(shape, RecordShape):
            return f"Record<string, {self.type(shape.value)}>"
        if isinstance(shape, UnionShape):
            return self._union(shape)
        if isinstance(shape, Named):
            return self.names.get(shape.name, shape.name)
        return self.object(shape)

    def object(
        self, shape: ObjectShape, also: Iterable[str] = (), fixed: Mapping[str, str] | None = None
    ) -> str:
        """Return an object's type; ``also`` are keys that it never has, ``fixed`` what some are."""
        types = {key.name: self.type(key.shape) for key in shape.keys}
        types.update(fixed or {})
        keys = [
            f"{property_name(key.name)}{'?' if key.optional else ''}: {types[key.name]}"
            for key in shape.keys
        ]
        keys += [f"{property_name(name)}?: undefined" for name in also]
        return f"{{ {'; '.join(keys)} }}" if keys else "{}"

    def definitions(self, found: Iterable[Definition], *, prefix: str = "") -> str:
        """Return declarations, each in a line; ``prefix`` is ``export`` or the like."""
        return "".join(f"{prefix}{self._definition(one)}\n" for one in found)

    def _definition(self, found: Definition) -> str:
        name = self.names.get(found.name, found.name)
        if isinstance(found.shape, ObjectShape):
            return f"interface {name} {self.object(found.shape)}"
        return f"type {name} = {self.type(found.shape)};"

    def _plain(self, shape: Plain) -> str:
        if shape.format == "file":
            return "Blob"
        if shape.format == "frame":
            return "ArrayBuffer"
        if shape.lax and shape.kind == "number":
            return "number | `${number}`"
        return shape.kind

    def _inside(self, shape: Shape) -> str:
        text = self.type(shape)
        return f"({text})" if isinstance(shape, UnionShape) or " | " in text else text

    def _fixed(self, shape: ObjectShape, objects: Sequence[ObjectShape]) -> dict[str, str]:
        """Return the types of keys that distinguish an object from others."""
        found = {}
        for key in shape.keys:
            if _is_empty(key.shape):
                found[key.name] = self.type(_filled(key, objects))
            if not isinstance(key.shape, Plain) or key.optional or len(objects) < 2:
                continue
            text = key.shape.kind == "string"
            is_constant = key.fixed is not None and (isinstance(key.fixed, str) or not text)
            if is_constant and (_telling(key, objects) or (self.loose and not text)):
                found[key.name] = json.dumps(key.fixed)
            elif self.loose and text and (key.fixed or _is_mark(key, objects)):
                found[key.name] = "`${any}`"  # which is never empty
        return found

    def _union(self, shape: UnionShape) -> str:
        """Return a union. An object lacks the keys of the others, as for TypeScript's literals."""
        objects = [part for part in parts_of(shape) if isinstance(part, ObjectShape)]
        names = dict.fromkeys(key.name for one in objects for key in one.keys)
        texts = []
        for part in shape.parts:
            if isinstance(part, ObjectShape):
                own = {key.name for key in part.keys}
                fixed = self._fixed(part, objects)
                texts.append(self.object(part, [name for name in names if name not in own], fixed))
            else:
                texts.append(self.type(part))
        return " | ".join(dict.fromkeys(texts))


def _telling(key: Key, objects: Iterable[ObjectShape]) -> bool:
    """Whether a constant under a key tells objects apart: all have one, and not the same."""
    found = [one for part in objects for one in part.keys if one.name == key.name]
    values = {one.fixed for one in found}
    is_plain = all(type(one.fixed) is type(key.fixed) and not one.optional for one in found)
    return len(values) > 1 and is_plain and len(found) == len(tuple(objects))


def _is_empty(shape: Shape) -> bool:
    """Whether it is a list into which nothing is put."""
    return isinstance(shape, ListShape) and shape.item == NOTHING_INSIDE


def _filled(key: Key, objects: Iterable[ObjectShape]) -> Shape:
    """Return the type of a list that is empty here: as other objects have it, if they do."""
    others = [one.shape for part in objects for one in part.keys if one.name == key.name]
    lists = [one for one in others if isinstance(one, ListShape) and not _is_empty(one)]
    return lists[0] if lists else key.shape


def _is_mark(key: Key, objects: Iterable[ObjectShape]) -> bool:
    """Whether some objects lack a key, or have null there: code asks ``if (data.error)``."""
    others = [[one.shape for one in part.keys if one.name == key.name] for part in objects]
    return any(not one or one[0] == NULL for one in others)


def property_name(name: str) -> str:
    """Return a key as it is written in an object's type."""
    return name if _IDENTIFIER.fullmatch(name) else json.dumps(name)
