"""The way of the data through the packages."""

from svg import BLUE, GREEN, GREY, ORANGE, Figure

FLOORS = (
    ("cli, jobs", "1  options of the command or the call", "11  summary, files, Result"),
    ("engine", "2  supply: where the graph is; plan", "10  report: statistics, tree"),
    ("device", "5  upload; sort, redistribute, transpose", "8  download of distances and tails"),
    ("comm, partition", "4  cut into shares, one for each rank", "9  gather on rank 0"),
    ("io, graph", "3  file to compressed sparse rows", ""),
    ("kernels", "6  steps, until nothing is left", "7  distances, predecessors"),
)


def figure() -> Figure:
    """Packages import only from floors below their own; data passes them by number."""
    drawing = Figure("The way of the data through the packages", 940, 460)
    drawing.words(365, 28, "on the way in", bold=True)
    drawing.words(745, 28, "on the way out", bold=True)
    for number, (name, inward, outward) in enumerate(FLOORS):
        y = 45 + 66 * number
        fill = GREEN if name == "kernels" else BLUE
        drawing.box(20, y, 150, 48, name, GREY)
        drawing.box(200, y, 330, 48, inward, fill)
        if outward:
            drawing.box(570, y, 350, 48, outward, GREEN if name == "kernels" else ORANGE)
        if number:
            drawing.line((20, y - 9), (920, y - 9), dashed=True)
    drawing.arrow((530, 399), (570, 399))
    drawing.words(
        20,
        450,
        "An import leads only to a lower floor. The numbers are the way of the data.",
        "start",
    )
    return drawing
