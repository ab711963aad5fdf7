"""A step of the leader block and of the others over time."""

from svg import BLUE, GREEN, GREY, ORANGE, RED, Figure


def figure() -> Figure:
    """Without peers the leader neither polls, plans nor publishes."""
    drawing = Figure("A step of the leader block and of other blocks", 1080, 300)
    drawing.words(20, 30, "time", "start", bold=True)
    drawing.arrow((65, 25), (1060, 25))
    drawing.words(20, 92, "other blocks", "start", bold=True)
    drawing.box(140, 65, 280, 44, "relax", GREEN)
    drawing.box(420, 65, 110, 44, "fence_gpu,\narrived += 1", ORANGE)
    drawing.box(530, 65, 260, 44, "wait for released", GREY)
    drawing.box(790, 65, 270, 44, "next step", GREEN)
    drawing.words(20, 172, "leader block", "start", bold=True)
    drawing.box(140, 145, 190, 44, "relax, poll rings", GREEN)
    drawing.box(330, 145, 200, 44, "leader_poll until\nall have arrived", BLUE)
    drawing.box(530, 145, 150, 44, "leader_plan_step\n(decide)", BLUE)
    drawing.box(680, 145, 110, 44, "fence_gpu,\nreleased", ORANGE)
    drawing.box(790, 145, 130, 44, "fence_system,\npublish", RED)
    drawing.box(920, 145, 140, 44, "next step", GREEN)
    drawing.arrow((500, 109), (528, 143))
    drawing.arrow((762, 145), (788, 111))
    drawing.words(20, 252, "peers", "start", bold=True)
    drawing.arrow((850, 189), (850, 258))
    drawing.words(840, 232, "published, taken, dense_pulls,", "end")
    drawing.words(840, 250, "ballot, verdict, epoch", "end")
    drawing.arrow((345, 258), (345, 191))
    drawing.words(355, 232, "words of the peers,", "start")
    drawing.words(355, 250, "in this rank's mailbox", "start")
    drawing.words(
        140,
        285,
        "The first warp of the leader block does this; nobody waits for it to publish.",
        "start",
    )
    return drawing
