"""Least-cost distances on a raster, whose arcs are not stored: the methods of ``kernels/grid/``.

A *tile* is a square of cells. It is *pending* with a key, the least distance that a neighbour tile
offers it. A round relaxes the pending tiles with keys below a threshold, each to its local fixed
point, and makes those neighbours pending whose cells would improve. Sums of floats that are not
negative are monotone, so the distances are the same in every order.

Threads relax the tiles of a round side by side. A cell is written only by the thread of its tile.
Another thread may read an older, higher distance of it; then it is made pending again, since the
thread that writes looks at its neighbours afterwards.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from groute_py.kernels.cpu.atomics import add, load, replace
from groute_py.kernels.cpu.kernel import inlined_kernel, kernel

SIDE = 64
"""Cells of a tile's side, a power of two."""

PITCH = SIDE + 2
"""Cells of the side of a tile with its halo."""

STEPS = (1, PITCH + 1, PITCH, PITCH - 1, -1, -PITCH - 1, -PITCH, -PITCH + 1)
"""Steps within a tile and its halo, by direction."""

ROWS, COLUMNS = (0, 1, 1, 1, 0, -1, -1, -1), (1, 1, 0, -1, -1, -1, 0, 1)
"""The same steps on the raster."""

HALVES = (0, 2, 1, 2, 0, 2, 1, 2)
"""Places of half the length of a step, by direction."""

SOURCE, NO_DIRECTION = 0, 255
MARKS = 0x40, 0x80
"""Bits of codes that the last turn of `find_directions` has found, by its parity."""

COUNT, TAKEN = 0, 16
"""Places in the words of a round, int64: tiles that are pending next, and tiles that are taken."""


class Cells(NamedTuple):
    """Cells, and what a step costs."""

    friction: Any  # (rows, columns), infinite on barriers
    distances: Any  # alike
    halves: Any  # (3,): half the length of a step by column, by row and diagonally
    cutoff: Any
    nothing: Any  # infinity, of the type of distances


class Front(NamedTuple):
    """Pending tiles, by the parity of rounds."""

    keys: Any  # (2, tiles)
    lists: Any  # int32, (2, tiles)
    listed: Any  # int64, (tiles,): the last round for which a tile was listed
    lowered: Any  # bool, (tiles,): distances in it came from outside
    words: Any
    columns: int  # of tiles


class TileCells(NamedTuple):
    """A tile with its halo, and the queue of its cells; of one thread."""

    friction: Any  # (PITCH²,)
    distances: Any
    queue: Any  # int64, (SIDE²,)
    queued: Any  # bool, (PITCH²,)


@inlined_kernel
def _reach(distance: Any, one: Any, other: Any, half: Any) -> Any:
    """Return the distance after a step, which costs mean friction times length."""
    return distance + (one + other) * half


@kernel
def push(front: Any, tile: Any, key: Any, turn: Any) -> None:
    """Make a tile pending for a round."""
    side = turn % 2
    keys = front.keys[side]
    old = load(keys, tile)
    while key < old and not replace(keys, tile, old, key):
        old = load(keys, tile)
    stamp = load(front.listed, tile)
    while stamp != turn:
        if replace(front.listed, tile, stamp, turn):
            front.lists[side, add(front.words, COUNT, 1)] = tile
        stamp = load(front.listed, tile)


@kernel
def lower(raster: Any, front: Any, cells: Any, values: Any, turn: Any) -> None:
    """Lower the distances of some cells, and make their tiles pending for a round."""
    columns = raster.distances.shape[1]
    for i in range(len(cells)):
        row, column, value = cells[i] // columns, cells[i] % columns, values[i]
        if value >= raster.distances[row, column]:
            continue
        raster.distances[row, column] = value
        tile = row // SIDE * front.columns + column // SIDE
        front.lowered[tile] = True
        push(front, tile, value, turn)


@kernel
def _load_tile(raster: Any, top: Any, left: Any, work: Any) -> None:
    """Copy a tile with its halo; cells beyond the raster are barriers."""
    rows, columns = raster.friction.shape
    place = 0
    for row in range(top - 1, top + SIDE + 1):
        for column in range(left - 1, left + SIDE + 1):
            work.queued[place] = False
            if 0 <= row < rows and 0 <= column < columns:
                work.friction[place] = raster.friction[row, column]
                work.distances[place] = raster.distances[row, column]
            else:
                work.friction[place] = work.distances[place] = raster.nothing
            place += 1


@inlined_kernel
def _is_inside(place: Any) -> Any:
    row, column = place // PITCH, place % PITCH
    return 0 < row <= SIDE and 0 < column <= SIDE


@kernel
def _relax_from(place: Any, raster: Any, work: Any, tail: Any) -> Any:
    """Relax the steps from a cell into the tile; return the new end of the queue."""
    distance, friction = work.distances[place], work.friction[place]
    for k in range(8):
        head = place + STEPS[k]
        if not 0 <= head < PITCH * PITCH or not _is_inside(head):
            continue
        reach = _reach(distance, friction, work.friction[head], raster.halves[HALVES[k]])
        if reach < work.distances[head]:
            work.distances[head] = reach
            if not work.queued[head]:
                work.queued[head] = True
                work.queue[tail % (SIDE * SIDE)] = head
                tail += 1
    return tail


@kernel
def _relax_tile(raster: Any, work: Any, is_lowered: Any) -> None:
    """Relax a tile to its fixed point, from its halo, and from its cells if some were lowered."""
    tail: Any = 0
    for place in range(PITCH * PITCH):
        distance = work.distances[place]
        if distance != raster.nothing and (is_lowered or not _is_inside(place)):
            tail = _relax_from(place, raster, work, tail)
    head: Any = 0
    while head < tail:
        place = work.queue[head % (SIDE * SIDE)]
        head += 1
        work.queued[place] = False
        tail = _relax_from(place, raster, work, tail)


@kernel
def _push_neighbours(raster: Any, front: Any, tile: Any, turn: Any, work: Any) -> None:
    """Make the tiles pending whose cells in the halo this tile improves."""
    for place in range(PITCH * PITCH):
        row, column = place // PITCH, place % PITCH
        if _is_inside(place):
            continue
        least = work.distances[place]
        improves = False
        for k in range(8):
            tail = place + STEPS[k]
            if 0 <= tail < PITCH * PITCH and _is_inside(tail):
                half = raster.halves[HALVES[k]]
                distance, friction = work.distances[tail], work.friction[tail]
                reach = _reach(distance, friction, work.friction[place], half)
                if reach < least and reach <= raster.cutoff:
                    least = reach
                    improves = True
        if improves:
            down = (row == PITCH - 1) - (row == 0)
            right = (column == PITCH - 1) - (column == 0)
            push(front, tile + down * front.columns + right, least, turn + 1)


@kernel
def relax_tiles(raster: Any, front: Any, turn: Any, count: Any, threshold: Any, work: Any) -> None:
    """Relax the tiles of a round that this thread takes."""
    side = turn % 2
    while True:
        taken = add(front.words, TAKEN, 1)
        if taken >= count:
            return
        tile = front.lists[side, taken]
        key = front.keys[side, tile]
        front.keys[side, tile] = raster.nothing
        if key >= threshold:
            push(front, tile, key, turn + 1)
            continue
        top, left = tile // front.columns * SIDE, tile % front.columns * SIDE
        _load_tile(raster, top, left, work)
        _relax_tile(raster, work, front.lowered[tile])
        front.lowered[tile] = False
        own = raster.distances[top : top + SIDE, left : left + SIDE]
        rows, columns = own.shape
        own[:] = work.distances.reshape(PITCH, PITCH)[1 : rows + 1, 1 : columns + 1]
        _push_neighbours(raster, front, tile, turn, work)


@kernel
def find_directions(raster: Any, first: Any, last: Any, codes: Any, turn: Any) -> Any:
    """Find steps back in some rows, where the codes of sources are known.

    Turn 0 finds steps that fall. A later one finds level steps to cells that had a code before it;
    its codes are marked until the next. Returns how many distances are not the least over their
    neighbours, and how many reached cells are left without a code.
    """
    doubts, left = 0, 0
    rows, columns = raster.friction.shape
    fresh, old = MARKS[turn % 2], MARKS[1 - turn % 2]
    for row in range(first, last):
        for column in range(columns):
            own, code = raster.distances[row, column], codes[row, column]
            if code == SOURCE or (turn > 0 and code != NO_DIRECTION):
                codes[row, column] = code & ~old
                doubts += code == SOURCE and own != 0
                continue
            friction = raster.friction[row, column]
            least = raster.nothing
            for k in range(8):
                r, c = row + ROWS[k], column + COLUMNS[k]
                if not (0 <= r < rows and 0 <= c < columns):
                    continue
                distance, other = raster.distances[r, c], raster.friction[r, c]
                reach = _reach(distance, friction, other, raster.halves[HALVES[k]])
                least = min(least, reach)
                if code != NO_DIRECTION or reach != own or own == raster.nothing:
                    continue
                is_known = turn > 0 and codes[r, c] != NO_DIRECTION and codes[r, c] & fresh == 0
                if distance < own or (is_known and distance == own):
                    code = (k + 1) | (fresh if turn > 0 else 0)
            doubts += own < least or (least < own and least <= raster.cutoff)
            left += own != raster.nothing and code == NO_DIRECTION
            codes[row, column] = code
    return doubts, left


@kernel
def follow(codes: Any, cell: Any, cells: Any) -> Any:
    """Follow directions to a source; write the cells where there is room, return their number."""
    columns = codes.shape[1]
    count = 0
    while True:
        if count < len(cells):
            cells[count] = cell
        count += 1
        code = codes[cell // columns, cell % columns]
        if code == SOURCE:
            return count
        cell += ROWS[code - 1] * columns + COLUMNS[code - 1]


@kernel
def allocate(codes: Any, numbers: Any) -> None:
    """Fill in the sources of all cells, where some are known and others are −2."""
    rows, columns = codes.shape
    for row in range(rows):
        for column in range(columns):
            if codes[row, column] == NO_DIRECTION and numbers[row, column] == -2:
                numbers[row, column] = -1
            r, c = row, column
            while numbers[r, c] == -2:
                code = codes[r, c]
                r, c = r + ROWS[code - 1], c + COLUMNS[code - 1]
            number = numbers[r, c]
            r, c = row, column
            while numbers[r, c] == -2:
                code = codes[r, c]
                numbers[r, c] = number
                r, c = r + ROWS[code - 1], c + COLUMNS[code - 1]
