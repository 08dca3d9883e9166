"""Links in Markdown below a path."""

from __future__ import annotations

import pytest

from fxtrio.markdown.links import based_links


@pytest.mark.parametrize(
    ("markdown", "based"),
    [
        ("[a](/x) ![b](/y.png 'B') [c](</z w>)", "[a](/s/x) ![b](/s/y.png 'B') [c](</s/z w>)"),
        ("[`a`](/x?b#c)\n\n[r]: /x", "[`a`](/s/x?b#c)\n\n[r]: /s/x"),
        ("[a](/s) [a](/s/x) [a](/s?b)", "[a](/s) [a](/s/x) [a](/s?b)"),
        ("[a](//b/x) [a](x) [a](#x) /x (/x)", "[a](//b/x) [a](x) [a](#x) /x (/x)"),
        ("`[a](/x)` ``[a](/x)` `` ` [a](/x)", "`[a](/x)` ``[a](/x)` `` ` [a](/s/x)"),
        ("```md\n[a](/x)\n``` x\n````\n[a](/x)", "```md\n[a](/x)\n``` x\n````\n[a](/s/x)"),
        (
            "- ```js\n  [a](/x)\n  ```\n  [b](/x)\n\n1. > ~~~\n   > [a](/x)\n   > ~~~\n[c](/x)",
            "- ```js\n  [a](/x)\n  ```\n  [b](/s/x)\n\n1. > ~~~\n   > [a](/x)\n   > ~~~\n[c](/s/x)",
        ),
        ("> ```\n> [a](/x)\n[b](/x)", "> ```\n> [a](/x)\n[b](/s/x)"),
        ("-\t```\n\t[a](/x)\n- [b](/x)", "-\t```\n\t[a](/x)\n- [b](/s/x)"),
        ("- ```\n  - ```\n  ```\n[b](/x)", "- ```\n  - ```\n  ```\n[b](/s/x)"),
        ("```[a](/x)``` [b](/x)", "```[a](/x)``` [b](/s/x)"),
    ],
)
def test_links_that_begin_with_a_slash_get_the_base_unless_they_are_code(
    markdown: str, based: str
) -> None:
    assert based_links(markdown, "/s") == based
    assert based_links(based, "/s") == based
    assert based_links(markdown, "") == markdown
