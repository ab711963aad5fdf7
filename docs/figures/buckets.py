"""Near, far and the threshold on a line of distances."""

from svg import BLUE, GREEN, GREY, Figure

LEFT, RIGHT, HEIGHT = 150, 900, 36


def figure() -> Figure:
    """The same line twice: while a bucket is relaxed, and after the threshold has moved on."""
    drawing = Figure("Near and far", 940, 290)
    _line(drawing, 70, 330, 510, "one bucket")
    _line(drawing, 190, 510, 690, "the next")
    drawing.arrow((510, 118), (690, 186), dashed=True)
    drawing.words(620, 144, "near is empty: the threshold moves on", "start")
    drawing.words(LEFT, 280, "distance from the source", "start")
    drawing.arrow((330, 275), (RIGHT, 275))
    return drawing


def _line(drawing: Figure, top: float, begin: float, threshold: float, words: str) -> None:
    drawing.words(20, top + 23, words, "start", bold=True)
    drawing.box(LEFT, top, begin - LEFT, HEIGHT, "final", GREY)
    drawing.box(begin, top, threshold - begin, HEIGHT, "near", GREEN)
    drawing.box(threshold, top, RIGHT - threshold, HEIGHT, "far", BLUE)
    drawing.line((threshold, top - 8), (threshold, top + HEIGHT + 8))
    drawing.words(threshold + 6, top - 12, "threshold", "start")
    drawing.words((begin + threshold) / 2, top - 12, "width Δ")
