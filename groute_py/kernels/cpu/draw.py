"""Counter-based random graphs: arc number i is a pure function of (seed, i).

Every number below is unsigned 64-bit and wraps around.

    mix(z)           = splitmix64's finaliser (Steele, Lea and Flood, OOPSLA 2014)
    key(seed, s)     = mix(mix(seed + G) + s · G),  G = 0x9E3779B97F4A7C15, s the stream, from 1
    draw(key, i)     = mix(key + (i + 1) · G)
    below(x, n)      = ⌊x · n / 2^32⌋ of 32 bits x and n < 2^32

Nothing depends on the order of the draws, so any thread, rank or device may make any part.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.kernels.cpu.kernel import kernel

STREAM_EDGE, STREAM_WEIGHT, STREAM_LEVELS, STREAM_IDS = 1, 2, 3, 4

G = np.uint64(0x9E3779B97F4A7C15)
FIRST, SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
ZERO, ONE, TWO = np.uint64(0), np.uint64(1), np.uint64(2)
HALF, LOW_HALF = np.uint64(32), np.uint64(2**32 - 1)

ROAD_KEPT = np.uint64(int(0.62 * 2**32))
ROAD_LONGEST = np.uint64(6000)
MOST_WEIGHT = np.uint64(255)

LEVELS_A_DRAW = 3
FIELD = np.uint64(2**42 + 2**21 + 1)
"""One in each of the three fields of a draw, 21 bits apart."""
FIELD_MASK = np.uint64(2**20 - 1) * FIELD
OVER_A, OVER_AB, OVER_ABC = (
    np.uint64(2**20 - int(share * 2**20)) * FIELD for share in (0.57, 0.76, 0.95)
)
"""Added to fields of 20 bits, they carry into bit 20 where the field is not below the share."""
CARRY, FIELD_WIDTH = np.uint64(20), np.uint64(21)
ID_ROUNDS = 4
TILE = 1024
"""Edges whose level bits are drawn together, few enough for the nearest cache."""

Arcs = tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]
"""Tails, heads and weights."""


@kernel
def mix(z: np.uint64) -> Any:
    """The finaliser of splitmix64, a bijection on 64 bits."""
    z = (z ^ (z >> np.uint64(30))) * FIRST
    z = (z ^ (z >> np.uint64(27))) * SECOND
    return z ^ (z >> np.uint64(31))


@kernel
def key(seed: np.uint64, stream: int) -> Any:
    """The start of one stream of draws."""
    return mix(mix(np.uint64(seed) + G) + np.uint64(stream) * G)


@kernel
def draw(start: np.uint64, index: np.uint64) -> Any:
    """Draw number `index` of the stream whose key is `start`."""
    return mix(start + (index + ONE) * G)


@kernel
def below(bits: np.uint64, count: np.uint64) -> np.uint64:
    """Map 32 bits to a number in 0..count-1."""
    return (bits * count) >> HALF


@kernel
def random_arcs(seed: np.uint64, vertex_count: int, begin: int, arcs: Arcs) -> None:
    """Arcs begin, begin + 1, … of the uniform graph.

    With e = draw(key(seed, 1), arc): the tail is below(upper half of e, n), the head
    below(lower half of e, n), the weight 1 + below(upper half of draw(key(seed, 2), arc), 255).
    """
    tails, heads, weights = arcs
    edge_key, weight_key = key(seed, STREAM_EDGE), key(seed, STREAM_WEIGHT)
    count = np.uint64(vertex_count)
    for place in range(len(tails)):
        arc = np.uint64(begin + place)
        edge = draw(edge_key, arc)
        tails[place] = below(edge >> HALF, count)
        heads[place] = below(edge & LOW_HALF, count)
        weights[place] = ONE + below(draw(weight_key, arc) >> HALF, MOST_WEIGHT)


@kernel
def rmat_arcs(seed: np.uint64, scale: int, begin: int, arcs: Arcs) -> None:
    """Arcs begin, begin + 1, … of the R-MAT graph (Chakrabarti, Zhan and Faloutsos, 2004).

    Arcs 2e and 2e + 1 are edge e in its two directions; `begin` and the lengths are even.
    Edge e takes D = ⌈scale / 3⌉ draws, k = 0..D-1, numbers e·D + k of key(seed, 3). Each chooses
    the quadrants of three levels, j = 0..2, by r, its bits 21j..21j+19: r < ⌊.57·2^20⌋ is (0, 0),
    r < ⌊.76·2^20⌋ is (0, 1), r < ⌊.95·2^20⌋ is (1, 0), else (1, 1). They are bit j·D + k of tail
    and head; bits beyond the scale are dropped, and both ids go through `scramble`.
    The weight is that of arc e of the uniform graph.
    """
    tails, heads, weights = arcs
    rounds, weight_key = round_numbers(seed), key(seed, STREAM_WEIGHT)
    draws = (scale + LEVELS_A_DRAW - 1) // LEVELS_A_DRAW
    tail_bits, head_bits = np.empty(TILE, np.uint64), np.empty(TILE, np.uint64)
    for start in range(0, len(tails), 2 * TILE):
        count = min(TILE, (len(tails) - start) // 2)
        first = (begin + start) // 2
        _quadrants(key(seed, STREAM_LEVELS), first, draws, tail_bits[:count], head_bits[:count])
        for k in range(count):
            tail = scramble(rounds, _joined(tail_bits[k], draws), scale)
            head = scramble(rounds, _joined(head_bits[k], draws), scale)
            place = start + 2 * k
            tails[place] = heads[place + 1] = tail
            heads[place] = tails[place + 1] = head
            x = draw(weight_key, np.uint64(first + k))
            weights[place] = weights[place + 1] = ONE + below(x >> HALF, MOST_WEIGHT)


@kernel
def _quadrants(
    level_key: np.uint64,
    first: int,
    draws: int,
    tails: NDArray[np.uint64],
    heads: NDArray[np.uint64],
) -> None:
    """The level bits of edges first, first + 1, …; their loop becomes vector instructions."""
    tails[:] = ZERO
    heads[:] = ZERO
    for draw_number in range(draws):
        k = np.uint64(draw_number)
        for edge in range(len(tails)):
            fields = draw(level_key, np.uint64(first + edge) * np.uint64(draws) + k) & FIELD_MASK
            over_a, over_ab = (fields + OVER_A) >> CARRY, (fields + OVER_AB) >> CARRY
            head = over_a & ~over_ab | (fields + OVER_ABC) >> CARRY
            tails[edge] |= (over_ab & FIELD) << k
            heads[edge] |= (head & FIELD) << k


@kernel
def _joined(fields: np.uint64, draws: int) -> np.uint64:
    """The lowest `draws` bits of each of three fields, side by side."""
    mask, width = (ONE << np.uint64(draws)) - ONE, np.uint64(draws)
    low, middle, high = fields & mask, (fields >> FIELD_WIDTH) & mask, fields >> TWO * FIELD_WIDTH
    return low | middle << width | high << TWO * width


@kernel
def round_numbers(seed: np.uint64) -> NDArray[np.uint64]:
    """The numbers of `scramble`: the first eight draws of key(seed, 4), the even ones made odd."""
    id_key = key(seed, STREAM_IDS)
    numbers = np.empty(2 * ID_ROUNDS, np.uint64)
    for k in range(2 * ID_ROUNDS):
        numbers[k] = draw(id_key, np.uint64(k)) | np.uint64(k % 2 == 0)
    return numbers


@kernel
def scramble(rounds: NDArray[np.uint64], vertex: np.uint64, scale: int) -> np.uint64:
    """A bijection on the numbers of `scale` bits, so that ids say nothing about degrees.

    Four rounds k of x = x·rounds[2k] + rounds[2k + 1], the lowest `scale` bits of it, and then
    x ^= x >> ⌈scale / 2⌉: each step can be undone.
    """
    mask = (ONE << np.uint64(scale)) - ONE
    shift = np.uint64((scale + 1) // 2)
    for k in range(ID_ROUNDS):
        vertex = (vertex * rounds[2 * k] + rounds[2 * k + 1]) & mask
        vertex ^= vertex >> shift
    return vertex


@kernel
def road_edge(edge_key: np.uint64, edge: int) -> np.int64:
    """The weight of a road edge, or 0 where it is not kept; all in whole numbers.

    Edge 2v leads from v to its right neighbour, 2v + 1 to the one below. Of its draw x from
    key(seed, 1) the upper half decides: kept below ⌊.62·2^32⌋. The lower half l is the fraction
    u = l / 2^32 of the weight ⌊6000·u²⌋ + 1.
    """
    x = draw(edge_key, np.uint64(edge))
    if x >> HALF >= ROAD_KEPT:
        return np.int64(0)
    square = (x & LOW_HALF) * (x & LOW_HALF)
    carried = (ROAD_LONGEST * (square & LOW_HALF)) >> HALF
    return np.int64(((ROAD_LONGEST * (square >> HALF) + carried) >> HALF) + ONE)


@kernel
def road_degrees(
    seed: np.uint64, width: int, height: int, rows: tuple[int, int], offsets: NDArray[np.int64]
) -> None:
    """Write the degree of each vertex v of the grid rows first..last-1 to ``offsets[v + 1]``."""
    edge_key = key(seed, STREAM_EDGE)
    for y in range(rows[0], rows[1]):
        for x in range(width):
            v = y * width + x
            degree = 0
            if y > 0 and road_edge(edge_key, 2 * (v - width) + 1) > 0:
                degree += 1
            if x > 0 and road_edge(edge_key, 2 * (v - 1)) > 0:
                degree += 1
            if x + 1 < width and road_edge(edge_key, 2 * v) > 0:
                degree += 1
            if y + 1 < height and road_edge(edge_key, 2 * v + 1) > 0:
                degree += 1
            offsets[v + 1] = degree


@kernel
def road_rows(
    seed: np.uint64,
    width: int,
    height: int,
    rows: tuple[int, int],
    offsets: NDArray[np.int64],
    heads: NDArray[Any],
    weights: NDArray[np.int32],
) -> None:
    """Write the arcs of the vertices of some grid rows: up, left, right, down."""
    edge_key = key(seed, STREAM_EDGE)
    for y in range(rows[0], rows[1]):
        for x in range(width):
            v = y * width + x
            place = offsets[v]
            if y > 0:
                weight = road_edge(edge_key, 2 * (v - width) + 1)
                place = _add(heads, weights, place, v - width, weight)
            if x > 0:
                place = _add(heads, weights, place, v - 1, road_edge(edge_key, 2 * (v - 1)))
            if x + 1 < width:
                place = _add(heads, weights, place, v + 1, road_edge(edge_key, 2 * v))
            if y + 1 < height:
                place = _add(heads, weights, place, v + width, road_edge(edge_key, 2 * v + 1))


@kernel
def _add(
    heads: NDArray[Any], weights: NDArray[Any], place: int, head: int, weight: np.int64
) -> int:
    if weight == 0:
        return place
    heads[place] = head
    weights[place] = weight
    return place + 1
