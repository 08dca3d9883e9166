"""A type for each page that may answer a path, the most specific first: for declarations. Pure.

So a path is looked up by the compiler of TypeScript as the server does it. Paths without
parameters are in one table, and each other page names the next one only once: a chain through all
pages, in which every page names its successor twice, kept the compiler busy for minutes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

from fxtrio.routes.pattern import Kind, Segment, parse_pattern, specificity
from fxtrio.tools.types.gather.page_types import PageTypes


def lookup_types(
    pages: Sequence[PageTypes], found: Mapping[int, str], none: str, otherwise: str
) -> Iterator[str]:
    """Yield declarations of which the first, ``$Page0<Path>``, is what a path leads to.

    ``found`` has the types of pages by their number. A page that has none stands before others
    as ``none``; a path that no page of ``found`` answers is ``otherwise``.
    """
    numbered = [(number, one) for number, one in enumerate(pages) if one.pattern]
    serving = [parse_pattern(one.pattern) for number, one in numbered if number in found]
    fixed: dict[str, str] = {}
    tests: list[tuple[str, str]] = []
    for number, page in sorted(numbered, key=lambda one: specificity(one[1].pattern)):
        own = parse_pattern(page.pattern)
        if number not in found and not any(_overlap(own, one) for one in serving):
            continue
        sent = found.get(number, none)
        is_optional = own[-1:] and own[-1].kind is Kind.OPTIONAL_REST
        for segments in [own[:-1], own] if is_optional else [own]:
            if all(segment.kind is Kind.LITERAL for segment in segments):
                fixed.setdefault("/" + "/".join(one.text for one in segments), sent)
            else:
                tests.append((_tested(segments), sent))
    table = (f"{json.dumps(path, ensure_ascii=False)}: {sent};" for path, sent in fixed.items())
    yield f"interface $Fixed {{ {' '.join(table)} }}"
    yield "type $Page0<Path> = Path extends keyof $Fixed ? $Fixed[Path] : $Page1<Path>;"
    for index, (test, sent) in enumerate(tests, 1):
        chosen = f"{test} extends 1 ? {sent} : $Page{index + 1}<Path>"
        yield f"type $Page{index}<Path> = Path extends string ? {chosen} : never;"
    yield f"type $Page{len(tests) + 1}<Path> = {otherwise};"


def _overlap(one: tuple[Segment, ...], other: tuple[Segment, ...]) -> bool:
    """Whether some path may fit both."""
    for left, right in zip(one, other, strict=False):
        if max(left.kind, right.kind) >= Kind.REST:
            return True
        if left.kind is right.kind is Kind.LITERAL and left.text != right.text:
            return False
    longer = max(one, other, key=len)[min(len(one), len(other)) :]
    return not longer or longer[0].kind is Kind.OPTIONAL_REST


def _tested(segments: tuple[Segment, ...]) -> str:
    """Return a type that is 1 where a type ``Path`` fits the segments, else 0."""
    text, inner = "", "1"
    for number, segment in enumerate(segments):
        if segment.kind is Kind.LITERAL:
            text += f"/{segment.text}"
        else:
            text += f"/${{infer Part{number}}}"
            unfit = "NoSegment" if segment.kind is Kind.PARAM else '""'
            inner = f"Part{number} extends {unfit} ? 0 : {inner}"
    return f"(Path extends `{text}` ? {inner} : 0)"
