"""The life of a worklist entry."""

from svg import BLUE, GREEN, GREY, ORANGE, RED, Figure


def figure() -> Figure:
    """An entry is a vertex with its distance; a vertex may have several."""
    drawing = Figure("The life of a worklist entry", 1000, 430)
    drawing.box(20, 170, 150, 60, "an arc lowers the\ndistance of a vertex", BLUE)
    drawing.box(250, 60, 150, 60, "near", GREEN)
    drawing.box(250, 280, 150, 60, "far", BLUE)
    drawing.arrow((170, 185), (250, 105))
    drawing.words(222, 155, "below the threshold", "start")
    drawing.arrow((170, 215), (250, 295))
    drawing.words(226, 262, "at or above it", "start")
    drawing.box(510, 60, 170, 60, "its row is relaxed", GREEN)
    drawing.arrow((400, 90), (510, 90))
    drawing.words(455, 80, "still valid")
    drawing.box(510, 150, 170, 50, "stale: skipped", GREY)
    drawing.arrow((400, 108), (510, 165))
    drawing.arrow((595, 60), (595, 30), (95, 30), (95, 170))
    drawing.words(345, 22, "each head that improves")
    drawing.arrow((370, 280), (370, 122))
    drawing.words(362, 205, "split by a", "end")
    drawing.words(362, 223, "new threshold", "end")
    drawing.box(510, 285, 170, 50, "dropped; a scan of all\nvertices finds it", ORANGE)
    drawing.arrow((400, 310), (510, 310))
    drawing.words(455, 300, "far is full")
    drawing.arrow((595, 335), (595, 390), (325, 390), (325, 342))
    drawing.words(460, 410, "next split")
    drawing.box(780, 60, 190, 60, "spill bit of the vertex", ORANGE)
    drawing.arrow((360, 60), (360, 44), (875, 44), (875, 58))
    drawing.words(760, 36, "near is full")
    drawing.arrow((875, 120), (875, 222), (388, 222), (388, 122))
    drawing.words(580, 216, "recover_spilled lists the vertex again")
    drawing.arrow((400, 118), (445, 265), (875, 265), (875, 283))
    drawing.words(580, 257, "push by a ring, or dense pull")
    drawing.box(780, 285, 190, 50, "near of the peers that\nhold out-arcs", GREEN)
    drawing.box(780, 365, 190, 44, "arcs beyond the bound:\ndeferred, then pulled", RED)
    drawing.arrow((680, 105), (735, 105), (735, 387), (778, 387), dashed=True)
    return drawing
