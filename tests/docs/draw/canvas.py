"""Boxes, arrows and words on a canvas: an SVG that is light or dark as the reader's browser is."""

from __future__ import annotations

from html import escape

import attrs

_STYLE = """
text { font: 14px system-ui, -apple-system, "Segoe UI", sans-serif; fill: #1f2328; }
.small { font-size: 12px; fill: #59636e; }
.strong { font-weight: 600; }
.ground { fill: #ffffff; }
.box { fill: #f6f8fa; stroke: #6e7781; }
.ours { fill: #eef0ff; stroke: #4f46e5; }
.ends { fill: #ffebe9; stroke: #cf222e; }
.lasts { fill: #dafbe1; stroke: #1a7f37; }
.line { fill: none; stroke: #59636e; stroke-width: 1.5; }
.dashed { stroke-dasharray: 4 4; }
.head { fill: #59636e; }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3; }
  .small { fill: #9198a1; }
  .ground { fill: #0d1117; }
  .box { fill: #151b23; stroke: #8b949e; }
  .ours { fill: #1f1d4d; stroke: #a5a0ff; }
  .ends { fill: #3c1618; stroke: #f85149; }
  .lasts { fill: #12301b; stroke: #3fb950; }
  .line { stroke: #9198a1; }
  .head { fill: #9198a1; }
}
"""

_LINE = 18
"""Height of a line of words (px)."""


@attrs.define
class Canvas:
    """One picture. Lengths are in px, from the upper left corner."""

    width: int
    height: int
    title: str
    """What the picture is called, for screen readers and as a tooltip."""

    description: str
    """What it shows, in sentences: those who cannot see it read this."""

    _parts: list[str] = attrs.field(init=False, factory=list)

    def box(self, x: int, y: int, width: int, height: int, text: str, kind: str = "box") -> None:
        """Draw a box with its words in the middle; further lines are small."""
        self._parts.append(
            f'<rect class="{kind}" x="{x}" y="{y}" width="{width}" height="{height}" rx="6"/>'
        )
        lines = text.split("\n")
        first = y + height / 2 + 5 - (len(lines) - 1) * _LINE / 2
        for number, line in enumerate(lines):
            look = "small" if number else "strong"
            self.text(x + width // 2, int(first + number * _LINE), line, look, anchor="middle")

    def frame(self, x: int, y: int, width: int, height: int, text: str) -> None:
        """Draw a box around others, with its words at the top."""
        self._parts.append(
            f'<rect class="line dashed" x="{x}" y="{y}" width="{width}" height="{height}" rx="8"/>'
        )
        self.text(x + 12, y + 20, text, "small")

    def text(self, x: int, y: int, text: str, look: str = "", anchor: str = "start") -> None:
        self._parts.append(
            f'<text class="{look}" x="{x}" y="{y}" text-anchor="{anchor}">{escape(text)}</text>'
        )

    def line(self, *points: tuple[int, int], dashed: bool = False) -> None:
        path = " ".join(f"{x},{y}" for x, y in points)
        look = "line dashed" if dashed else "line"
        self._parts.append(f'<polyline class="{look}" points="{path}"/>')

    def arrow(self, *points: tuple[int, int], dashed: bool = False) -> None:
        """Draw a line with a head at its end; its last part is horizontal or vertical."""
        (before_x, before_y), (x, y) = points[-2:]
        right, down = (x > before_x) - (x < before_x), (y > before_y) - (y < before_y)
        self.line(*points[:-1], (x - 6 * right, y - 6 * down), dashed=dashed)
        corners = [
            (x, y),
            (x - 9 * right - 5 * down, y - 9 * down - 5 * right),
            (x - 9 * right + 5 * down, y - 9 * down + 5 * right),
        ]
        path = " ".join(f"{a},{b}" for a, b in corners)
        self._parts.append(f'<polygon class="head" points="{path}"/>')

    def svg(self) -> str:
        """Return the file's text."""
        size = f'viewBox="0 0 {self.width} {self.height}" width="{self.width}"'
        names = 'role="img" aria-labelledby="title description"'
        parts = "\n".join(self._parts)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} {names}>\n'
            f'<title id="title">{escape(self.title)}</title>\n'
            f'<desc id="description">{escape(self.description)}</desc>\n'
            f"<style>{_STYLE}</style>\n"
            f'<rect class="ground" width="{self.width}" height="{self.height}"/>\n'
            f"{parts}\n</svg>\n"
        )
