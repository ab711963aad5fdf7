"""The steps of one solve, which every rank runs."""

from svg import BLUE, GREEN, GREY, ORANGE, Figure

STEPS = (
    ("cli/solve.py or jobs/tree.py", "read the options", GREY),
    ("comm/connect.py", "open a channel between the ranks", GREY),
    ("source/", "find size and weight type of the graph, or fail", BLUE),
    (
        "engine/preparing.py, planning.py, mode.py",
        "contract if wanted; choose method, device and mode",
        BLUE,
    ),
    ("partition/", "cut the vertices into ranges; one share per rank", BLUE),
    ("engine/loading.py, device/", "compile the kernels, load the share", GREEN),
    (
        "engine/solving.py, with loop.py or fused.py",
        "relax and exchange until no rank has work left",
        GREEN,
    ),
    ("engine/loop.py", "predecessors from tight arcs", GREEN),
    (
        "engine/solver.py, results/result.py",
        "gather distances and tree on rank 0; statistics",
        ORANGE,
    ),
)
WIDTH, HEIGHT, PITCH, LEFT, TOP = 430, 50, 70, 20, 20


def figure() -> Figure:
    """One box below another, and the way back where a sum does not fit."""
    drawing = Figure("The steps of one solve", 760, TOP + PITCH * len(STEPS))
    middle = LEFT + WIDTH / 2
    for number, (place, action, fill) in enumerate(STEPS):
        y = TOP + PITCH * number
        drawing.box(LEFT, y, WIDTH, HEIGHT, f"{place}\n{action}", fill)
        if number:
            drawing.arrow((middle, y - PITCH + HEIGHT), (middle, y))
    right, loading, solving = LEFT + WIDTH, TOP + PITCH * 5.36, TOP + PITCH * 6.36
    drawing.arrow((right, solving), (right + 60, solving), (right + 60, loading), (right, loading))
    drawing.words(right + 70, (loading + solving) / 2 - 4, "a sum did not fit:", "start")
    drawing.words(right + 70, (loading + solving) / 2 + 14, "wider distance type", "start")
    return drawing
