"""Undefined names of which the compiler says more than `fx check` (`fxtrio/js/check/names.js`).

Both are one list: each use of a name is one mistake in it, and a name that is there in spite of
the compiler is none.
"""

from __future__ import annotations

import re

from fxtrio.tools.types.report.javascript_leniency import OTHERS_NAMES
from fxtrio.tools.types.report.seen import Seen

_CODES = OTHERS_NAMES | {2304, 2552, 18004}
"""Codes: besides those a name that nothing defines, one like another, and one in `{ name }`."""

_NAME = re.compile(r"[\w$]++")
_TESTED = re.compile(r"\btypeof\s++([\w$]++)\s*+[!=]=|[!=]=\s*+typeof\s++([\w$]++)(?!\s*+[.\[])")
"""A comparison: elsewhere it may be the type of a value that is not there."""

_COMMENT = re.compile(r"/\*\s*+globals?\s([^*]*+)\*/|//[ \t]*+globals?[ \t]([^\n]*+)")


def is_no_mistake(one: Seen) -> bool:
    """Whether an undefined name is that of a closing tag, or declared or tested by the half."""
    if one.diagnostic.code not in _CODES:
        return False
    text = one.half.page.ui
    name = _NAME.match(text, one.offset)
    if name is None:
        return False
    return text[: one.offset].rstrip().endswith("</") or name[0] in _ambient_names(text)


def _ambient_names(text: str) -> set[str]:
    """Return the names that a half tests by `typeof`, and those of its comments of globals."""
    listed = (*_TESTED.findall(text), *_COMMENT.findall(text))
    return {name for found in listed for part in found for name in _NAME.findall(part)}
