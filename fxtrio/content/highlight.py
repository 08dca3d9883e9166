"""Code as HTML with the classes of Pygments, which a stylesheet gives colors."""

from __future__ import annotations

import re
from html import escape

from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name
from pygments.util import ClassNotFound

_LIKE = {"jsx": "javascript", "jsonc": "json", "tsx": "typescript"}
"""Languages that Pygments does not know, and those that they are read as."""

_CLIENT_HALF = re.compile(
    r"""^(?:import[ ][^\n]*\bfrom[ ]["']|import[ ]["'{]|export[ ]|function[ ]|const[ ])""",
    re.MULTILINE,
)
"""Where the client half of a page file begins, as far as colors depend on it."""

_PLAIN = re.compile(r'<span class="(?:n|nx|p|w)">([^<]*+)</span>')
"""Names, punctuation and spaces: themes give them the color of the text around, and they are most
of the elements."""

_FORMATTER: HtmlFormatter[str] = HtmlFormatter(nowrap=True)


def highlighted(code: str, language: str, attributes: str) -> str:
    """Return a whole ``<pre>``; code in an unknown language has no spans.

    A page file is one in the language ``fxl``, or one that ``attributes`` names: `pages/a.fxl`.
    """
    file = next(iter(attributes.split()), "")
    inner = _spans(code, language)
    if language == "fxl" or file.endswith(".fxl"):
        found = _CLIENT_HALF.search(code)
        at = found.start() if found else len(code)
        ui = "jsx" if language == "fxl" else language
        inner = _spans(code[:at], "python") + _spans(code[at:], ui)
    named = f' class="language-{escape(language)}"' if language else ""
    return f'<pre class="highlight" tabindex="0"><code{named}>{inner}</code></pre>\n'


def _spans(code: str, language: str) -> str:
    """Return code as HTML, with spans if Pygments knows the language."""
    try:
        lexer = get_lexer_by_name(_LIKE.get(language, language), stripnl=False, ensurenl=False)
    except ClassNotFound:
        return escape(code, quote=False)
    return _PLAIN.sub(r"\1", str(highlight(code, lexer, _FORMATTER)))
