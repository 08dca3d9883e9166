"""Code as HTML with the classes of Pygments, which a stylesheet gives colors."""

from __future__ import annotations

from html import escape

from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name
from pygments.util import ClassNotFound

_LIKE = {"fxl": "python", "jsx": "javascript", "jsonc": "json"}
"""Languages that Pygments does not know, and those that they are read as."""

_FORMATTER: HtmlFormatter[str] = HtmlFormatter(nowrap=True)


def highlighted(code: str, language: str, _attributes: str) -> str:
    """Return a whole ``<pre>``; code in an unknown language has no spans."""
    inner = escape(code, quote=False)
    if language:
        try:
            lexer = get_lexer_by_name(_LIKE.get(language, language), stripnl=False)
        except ClassNotFound:
            pass
        else:
            inner = highlight(code, lexer, _FORMATTER)
    named = f' class="language-{escape(language)}"' if language else ""
    return f'<pre class="highlight" tabindex="0"><code{named}>{inner}</code></pre>\n'
