"""Boxes, lines, arrows and words as SVG, for the figures of this folder."""

from __future__ import annotations

from html import escape

INK, PALE, WHITE = "#1f2933", "#9aa5b1", "#ffffff"
BLUE, GREEN, ORANGE, RED, GREY = "#d6e6f5", "#d9efdc", "#fbe6c8", "#f8d7d4", "#eceff2"
SIZE, LINE = 14, 18
FONTS = "Helvetica, Arial, DejaVu Sans, sans-serif"


class Figure:
    """A drawing; lengths are pixels, and y grows downward."""

    def __init__(self, title: str, width: int, height: int) -> None:
        self._size, self._title = (width, height), title
        self._parts: list[str] = []

    def box(
        self, x: float, y: float, width: float, height: float, words: str, fill: str = GREY
    ) -> None:
        """A box with words in its middle, a line of them for each line break."""
        self._parts.append(
            f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="4" '
            f'fill="{fill}" stroke="{PALE}"/>'
        )
        first = y + height / 2 - LINE * words.count("\n") / 2 + SIZE * 0.35
        for number, line in enumerate(words.split("\n")):
            self.words(x + width / 2, first + LINE * number, line)

    def words(
        self, x: float, y: float, words: str, anchor: str = "middle", *, bold: bool = False
    ) -> None:
        """A line of words on the baseline y."""
        weight = ' font-weight="bold"' if bold else ""
        self._parts.append(
            f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}"{weight}>{escape(words)}</text>'
        )

    def line(self, *points: tuple[float, float], dashed: bool = False, arrow: bool = False) -> None:
        """A line through points, with an arrow at its end or none."""
        path = " ".join(f"{x:g},{y:g}" for x, y in points)
        dashes = ' stroke-dasharray="4 3"' if dashed else ""
        head = ' marker-end="url(#head)"' if arrow else ""
        look = f'fill="none" stroke="{INK}" stroke-width="1.3"{dashes}{head}'
        self._parts.append(f'<polyline points="{path}" {look}/>')

    def arrow(self, *points: tuple[float, float], dashed: bool = False) -> None:
        """A line that ends in an arrow."""
        self.line(*points, dashed=dashed, arrow=True)

    def text(self) -> str:
        """The SVG file."""
        width, height = self._size
        return "\n".join(
            [
                f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
                f'width="{width}" height="{height}" font-family="{FONTS}" font-size="{SIZE}" '
                f'fill="{INK}">',
                f"<title>{escape(self._title)}</title>",
                '<defs><marker id="head" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="8" '
                f'markerHeight="8" orient="auto"><path d="M0,1 L10,5 L0,9 z" fill="{INK}"/>'
                "</marker></defs>",
                f'<rect width="{width}" height="{height}" fill="{WHITE}"/>',
                *self._parts,
                "</svg>",
                "",
            ]
        )
