"""The distances of the step loop on one line."""

from svg import BLUE, GREEN, GREY, ORANGE, RED, Figure

AXIS = 130
MARKS = {
    "base": (80, "arcs have been", "deferred since here"),
    "bucket_begin": (235, "the bucket", "begins"),
    "threshold": (400, "it ends: near", "lies below"),
    "bound": (550, "arcs that lead here", "or beyond are deferred"),
    "limit": (720, "up to where this", "rank may work"),
    "cutoff": (870, "larger distances", "are dropped"),
}
BANDS = (
    ("base", "bucket_begin", "relaxed", GREY),
    ("bucket_begin", "threshold", "near", GREEN),
    ("threshold", "bound", "far", BLUE),
    ("bound", "limit", "far, by pull phase", ORANGE),
    ("limit", "cutoff", "not yet", ORANGE),
)


def figure() -> Figure:
    """All ranks have their own bucket and bound; the limit is shared."""
    drawing = Figure("Distances of the step loop", 980, 250)
    drawing.words(20, 30, "distance from the source", "start", bold=True)
    drawing.words(20, 52, "floor: the smallest distance that is left, here in near", "start")
    for first, last, words, fill in BANDS:
        begin, end = MARKS[first][0], MARKS[last][0]
        drawing.box(begin, AXIS - 40, end - begin, 36, words, fill)
    drawing.box(MARKS["cutoff"][0], AXIS - 40, 90, 36, "dropped", RED)
    drawing.arrow((20, AXIS), (970, AXIS))
    for name, (x, *lines) in MARKS.items():
        drawing.line((x, AXIS - 44), (x, AXIS + 8))
        drawing.words(x, AXIS + 26, name, bold=True)
        for number, line in enumerate(lines):
            drawing.words(x, AXIS + 46 + 18 * number, line)
    order = "base ≤ bucket_begin < threshold ≤ bound; without peers the host sets the limit"
    drawing.words(20, 235, order, "start")
    drawing.arrow((275, 60), (275, AXIS - 42))
    return drawing
