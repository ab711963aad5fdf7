"""The ring of an inbox and the low-latency ring, with their cursors."""

from svg import BLUE, GREEN, GREY, ORANGE, Figure

CELL = 52
LEFT = 90


def _ring(drawing: Figure, y: float, cells: list[tuple[str, str]]) -> None:
    for place, (words, fill) in enumerate(cells):
        drawing.box(LEFT + CELL * place, y, CELL, 40, words, fill)


def _cursor(drawing: Figure, place: float, y: float, words: str, *, above: bool) -> None:
    x = LEFT + CELL * place
    if above:
        drawing.arrow((x, y - 26), (x, y - 2))
        drawing.words(x, y - 32, words)
    else:
        drawing.arrow((x, y + 66), (x, y + 42))
        drawing.words(x, y + 82, words)


def figure() -> Figure:
    """Cursors count from the start of the run; a place is a cursor modulo the capacity."""
    drawing = Figure("Ring of an inbox and low-latency ring", 980, 420)
    drawing.words(20, 28, "Ring of an inbox (one for each sender)", "start", bold=True)
    free, taken = ("free", GREY), ("taken", GREY)
    entry, new = ("entry", BLUE), ("new", ORANGE)
    _ring(drawing, 80, [taken] * 2 + [entry] * 5 + [new] * 3 + [free] * 5)
    _cursor(drawing, 2, 80, "taken (receiver)", above=True)
    _cursor(drawing, 7, 80, "published (sender)", above=True)
    _cursor(drawing, 10, 80, "sent: next place, by atomics", above=False)
    _cursor(drawing, 15, 80, "room = taken + capacity", above=True)
    drawing.words(LEFT + CELL * 4.5, 162, "the receiver may read these")
    drawing.words(20, 238, "Low-latency ring: 8-byte words with a lap bit", "start", bold=True)
    lap = [("old 1", GREY)] * 2 + [("new 0", GREEN)] * 4 + [("old 1", GREY)] * 9
    _ring(drawing, 290, lap)
    _cursor(drawing, 2, 290, "ll_taken", above=True)
    _cursor(drawing, 6, 290, "ll_sent, by atomics", above=True)
    _cursor(drawing, 15, 290, "ll_room", above=True)
    drawing.words(
        LEFT,
        354,
        "0, 1: the lap bit. A word with the bit of this lap has arrived, so there is no count.",
        "start",
    )
    drawing.words(
        LEFT, 378, "Credits: the lower bits of ll_taken travel in the word of taken.", "start"
    )
    drawing.words(
        LEFT,
        402,
        "Full: the low-latency ring gives way to the inbox, and the inbox to a dense pull.",
        "start",
    )
    return drawing
