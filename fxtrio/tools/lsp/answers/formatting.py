"""A page in the style of `fx format`, as the edits that lead there."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable
from difflib import SequenceMatcher
from itertools import accumulate, takewhile
from pathlib import Path

from lsprotocol import types

from fxtrio.errors import FxtrioError, leaves
from fxtrio.tools.format.prettier import RunPrettier, run_prettier
from fxtrio.tools.format.rewrite_files import format_files
from fxtrio.tools.lsp.documents.documents import Document
from fxtrio.tools.lsp.documents.positions import Places, places_of
from fxtrio.tools.lsp.rpc import request_failed

_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_MOST_COMPARED = 100  # equal lines of the other text for each line


async def formatting_edits(
    document: Document,
    root: Path,
    report: Callable[[str], None],
    *,
    static: bool = False,
    run: RunPrettier = run_prettier,
) -> list[types.TextEdit]:
    """Return what `fx format` would change in a file as it is in the editor.

    With ``static`` no code of the project is run, such as a plug-in of prettier. A file with a
    mistake stays as it is, which ``report`` gets. ``run`` has prettier format. Raises
    JsonRpcException when a formatter is missing or fails.
    """
    data = document.text.encode("utf-8", "surrogatepass")
    try:
        files = [(document.file, data)]
        (formatted,) = await format_files(root, files, report=report, static=static, run=run)
    except* FxtrioError as group:
        causes = leaves(group)
    else:
        for problem in formatted.problems:
            report(f"It is not formatted. {problem}")
        return edits_between(document.text, formatted.after.decode("utf-8", "surrogatepass"))
    raise request_failed(" ".join(map(str, causes)))


def edits_between(before: str, after: str) -> list[types.TextEdit]:
    """Return edits of whole lines, so that the cursor and marks of other lines stay."""
    old, new = _LINE.findall(before), _LINE.findall(after)
    same = _count_equal(old, new)
    rest = _count_equal(old[same:][::-1], new[same:][::-1])
    changed, instead = old[same : len(old) - rest], new[same : len(new) - rest]
    starts = [0, *accumulate(map(len, old))]
    places = places_of(before)
    return [
        types.TextEdit(
            _range(places, starts[same + first], starts[same + last]), "".join(instead[start:end])
        )
        for first, last, start, end in _differences(changed, instead)
    ]


def _count_equal(old: list[str], new: list[str]) -> int:
    """Return how many lines both begin with."""
    pairs = zip(old, new, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _differences(old: list[str], new: list[str]) -> list[tuple[int, int, int, int]]:
    """Return which lines of ``old`` are replaced by which of ``new``.

    Compared is what stands between lines that are in both once: mostly a few lines, where those
    of a whole page would be compared with all that read alike.
    """
    found = []
    first = start = 0
    for last, end in [*_lines_in_both(old, new), (len(old), len(new))]:
        for one in _differences_of_few(old[first:last], new[start:end]):
            found.append((first + one[0], first + one[1], start + one[2], start + one[3]))
        first, start = last + 1, end + 1
    return found


def _lines_in_both(old: list[str], new: list[str]) -> list[tuple[int, int]]:
    """Return lines that are in each text once, in the same order: their numbers in both."""
    times, others = Counter(old), Counter(new)
    places = {line: number for number, line in enumerate(new) if others[line] == 1}
    pairs = [
        (number, places[line])
        for number, line in enumerate(old)
        if line in places and times[line] == 1
    ]
    # The longest chain whose places rise. Of each length: its smallest last place, and pair.
    smallest: list[int] = []
    latest: list[int] = []
    before: list[int] = []
    for index, (_, place) in enumerate(pairs):
        length = bisect_left(smallest, place)
        before.append(latest[length - 1] if length else -1)
        smallest[length : length + 1] = [place]
        latest[length : length + 1] = [index]
    chain = []
    index = latest[-1] if latest else -1
    while index >= 0:
        chain.append(pairs[index])
        index = before[index]
    return chain[::-1]


def _differences_of_few(old: list[str], new: list[str]) -> list[tuple[int, int, int, int]]:
    """Return what `_differences` does.

    That is one piece where equal lines are so many that to compare them would take long.
    """
    if old == new:
        return []
    times = Counter(new)
    if sum(times[line] for line in old) > _MOST_COMPARED * (len(old) + len(new)):
        return [(0, len(old), 0, len(new))]
    found = SequenceMatcher(None, old, new, False).get_opcodes()
    return [tuple(places) for kind, *places in found if kind != "equal"]  # type: ignore[misc]


def _range(places: Places, start: int, end: int) -> types.Range:
    ends = places.position(start), places.position(end)
    return types.Range(*(types.Position(one["line"], one["character"]) for one in ends))
