"""Kinds of graphs, as lists of arcs without weights."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

Arcs = list[tuple[int, int]]
Shape = Callable[[Random], tuple[int, Arcs]]
"""Draws the number of vertices and the arcs (tail, head)."""


def no_arcs(random: Random) -> tuple[int, Arcs]:
    return random.choice((1, 2, 7)), []


def loops(random: Random) -> tuple[int, Arcs]:
    count = random.randint(1, 5)
    return count, [(v, v) for v in range(count) for _ in range(random.randint(0, 3))]


def star(random: Random) -> tuple[int, Arcs]:
    count = random.randint(2, 80)
    arcs = [(0, v) for v in range(1, count)]
    return count, [(v, u) for u, v in arcs] + arcs[: random.choice((0, 1, count))]


def chain(random: Random) -> tuple[int, Arcs]:
    count = random.choice((2, 10, 60, 300))
    arcs = [(v, v + 1) for v in range(count - 1)]
    return count, arcs + (_turned(arcs) if random.random() < 0.5 else [])


def ring(random: Random) -> tuple[int, Arcs]:
    count = random.randint(1, 60)
    arcs = [(v, (v + 1) % count) for v in range(count)]
    return count, arcs + (_turned(arcs) if random.random() < 0.5 else [])


def tree(random: Random) -> tuple[int, Arcs]:
    """Two-way: every edge is a cycle."""
    count = random.randint(2, 100)
    arcs = [(random.randrange(v), v) for v in range(1, count)]
    return count, arcs + _turned(arcs)


def grid(random: Random) -> tuple[int, Arcs]:
    width, height = random.choice(((3, 3), (9, 7), (40, 30), (200, 2)))
    right = [(v, v + 1) for v in range(width * height) if (v + 1) % width]
    down = [(v, v + width) for v in range(width * (height - 1))]
    return width * height, right + down + _turned(right + down)


def dense(random: Random) -> tuple[int, Arcs]:
    count = random.randint(2, 24)
    return count, [(u, v) for u in range(count) for v in range(count)]


def sparse(random: Random) -> tuple[int, Arcs]:
    """At random: parallel arcs, loops and parts that are not reached among them."""
    count = random.choice((2, 5, 12, 30, 60, 150))
    return count, _any(random, count, int(count * random.choice((0.5, 1, 2, 4))))


def large(random: Random) -> tuple[int, Arcs]:
    count = random.randint(500, 2500)
    return count, _any(random, count, 4 * count)


def skewed(random: Random) -> tuple[int, Arcs]:
    """Few vertices have most of the arcs."""
    count = random.randint(10, 400)

    def vertex() -> int:
        return min(int(random.paretovariate(0.8)) - 1, count - 1)

    arcs = [(vertex(), random.randrange(count)) for _ in range(3 * count)]
    return count, arcs + [(random.randrange(count), vertex()) for _ in range(count)]


def parallel(random: Random) -> tuple[int, Arcs]:
    count = random.randint(2, 12)
    arcs = _any(random, count, 2 * count)
    return count, [arc for arc in arcs for _ in range(random.randint(1, 4))]


def apart(random: Random) -> tuple[int, Arcs]:
    """Two parts with no arc between them, and vertices in none."""
    half = random.randint(2, 30)
    arcs = _any(random, half, 3 * half)
    return 3 * half, arcs + [(u + half, v + half) for u, v in _any(random, half, 3 * half)]


def _turned(arcs: Arcs) -> Arcs:
    return [(v, u) for u, v in arcs]


def _any(random: Random, count: int, arcs: int) -> Arcs:
    return [(random.randrange(count), random.randrange(count)) for _ in range(arcs)]


SHAPES: dict[str, Shape] = {
    shape.__name__.replace("_", " "): shape
    for shape in (
        *(no_arcs, loops, star, chain, ring, tree, grid, dense, sparse, large, skewed, parallel),
        apart,
    )
}
"""All of them by name."""
