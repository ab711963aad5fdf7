"""Least-cost distances on a raster by ranks, each of which has a band of its rows.

A band has a row more on each side where another rank has one, so neighbours share two rows. Each
rank relaxes all cells that it has, as if there were no others, and lowers shared cells to what the
other has found. Sums along paths are monotone: distances are the same at any number of ranks.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.comm.agree import collective
from groute_py.comm.base import Channel
from groute_py.device.grid import Grid
from groute_py.device.registry import kind_of, of_module
from groute_py.errors import InputError, VerificationError, everywhere
from groute_py.grids.request import GridRequest
from groute_py.system.environment import local_rank

GRIDS = {"cpu": "groute_py.device.cpu.grid", "cuda": "groute_py.device.cuda.grid"}
"""Modules of the `Grid` of each kind of device."""

MOST_CELLS = (1 << 31) - 1
"""Cells of a band."""


class BandRows:
    """The rows of a raster that a rank has.

    Attributes:
        first, last: those of the raster, from the first to before the last.
        own: those that no other rank answers for, counted from `first`.
        shared: by the neighbour, where the two rows begin that it has, too, and which of them is
            its own.
    """

    def __init__(self, count: int, rank: int, ranks: int) -> None:
        ranks = min(count, ranks)  # others have no rows
        begin, end = (count * min(number, ranks) // ranks for number in (rank, rank + 1))
        above, below = 0 < rank < ranks, rank + 1 < ranks
        self.first, self.last = begin - above, end + below
        self.own = slice(int(above), end - self.first)
        self.shared: dict[int, tuple[int, int]] = {}
        if above:
            self.shared[rank - 1] = 0, 0
        if below:
            self.shared[rank + 1] = self.own.stop - 1, 1


class Band:
    """A rank's band of a raster, on its device; every method is collective."""

    def __init__(self, channel: Channel, request: GridRequest, friction: Any, device: str) -> None:
        """Take the friction of the rows that `BandRows` says, on each rank; find all distances."""
        self._channel, self._request = channel, request
        self._rows = rows = BandRows(request.shape[0], channel.rank, channel.size)
        if not len(friction):  # a wall, where a rank has no rows
            friction = np.zeros((1, request.shape[1]), request.kind)
        self._problem = request.problem(friction, rows.first, rows.own)
        with collective(channel):
            if friction.size > MOST_CELLS:
                few = f"a rank may have {MOST_CELLS:,}; take more ranks (mpirun)"
                raise InputError(f"friction has {friction.size:,} cells on a rank; {few}")
            place = None if channel.size == 1 else local_rank(channel.rank)
            grid: Grid = of_module(GRIDS[kind_of(device)], "RasterGrid")(self._problem, place)
            self._grid = grid
        self._check_sources()
        self._solve()

    def _check_sources(self) -> None:
        """Raise `InputError` if there are sources that lie on barriers."""
        rows, columns = self._request.shape
        cells = self._problem.sources[self._grid.blocked()] + self._rows.first * columns
        first = int(cells.min(initial=rows * columns))
        counts, firsts = zip(*self._channel.gather((len(cells), first)), strict=True)
        if sum(counts):
            row, column = divmod(min(firsts), columns)
            raise everywhere(
                InputError(
                    f"sources lie on barriers ({sum(counts)}), such as ({row}, {column}), whose "
                    "friction is too small or no number; move them, or leave them out"
                )
            )

    def _solve(self) -> None:
        """Relax tiles, and lower shared cells, until nothing is left on any rank."""
        grid, kind, sources = self._grid, self._request.kind, self._problem.sources
        if len(sources):
            grid.lower(sources, np.zeros(len(sources), kind))
        is_pending = True
        while is_pending:
            is_pending = grid.relax()
            if self._channel.size > 1:
                is_pending = any(self._channel.gather(self._lower_shared() or is_pending))
        grid.forget_beyond()

    def _lower_shared(self) -> bool:
        """Lower cells to what neighbours have found; return True if some were lower."""
        columns, some = self._request.shape[1], False
        for start, _, mine, theirs in self._swapped(self._grid.distances):
            is_lower = (theirs < mine) & (theirs <= self._request.cutoff)
            if is_lower.any():
                cells = start * columns + np.flatnonzero(is_lower)
                self._grid.lower(cells, theirs[is_lower])
                some = True
        return some

    def _swapped(self, values: Any) -> Iterator[tuple[int, int, NDArray[Any], NDArray[Any]]]:
        """Yield of each neighbour where shared rows begin, which is its own, and both's values.

        Values are flat, copies in host memory.
        """
        mine = [np.empty(0, values.dtype)] * self._channel.size
        for peer, (start, _) in self._rows.shared.items():
            mine[peer] = self._grid.on_host(values[start : start + 2]).flatten()
        theirs = self._channel.exchange(mine) if self._channel.size > 1 else mine
        for peer, (start, other) in self._rows.shared.items():
            yield start, other, mine[peer], theirs[peer]

    def distances(self) -> Any:
        """Return the distances of own rows, on the device."""
        return self._grid.distances[self._rows.own]

    def directions(self) -> Any:
        """Return the codes of the steps back of own rows, uint8, on the device.

        Raises:
            VerificationError: a distance is not the least over its neighbours.
        """
        doubts, left = self._find_directions(0)
        turn, before = 0, -1
        while left != before and (turn or left):
            turn, before = turn + 1, left
            self._put_others_codes()
            _, left = self._find_directions(turn)
        if doubts or left:
            raise everywhere(
                VerificationError(
                    f"{doubts + left} cells have distances that are not the least over their "
                    "neighbours; please report this, with the raster"
                )
            )
        return self._grid.codes[self._rows.own]

    def _find_directions(self, turn: int) -> tuple[int, int]:
        with collective(self._channel):
            counts = self._grid.find_directions(turn)
        doubts, left = zip(*self._channel.gather(counts), strict=True)
        return sum(doubts), sum(left)

    def _put_others_codes(self) -> None:
        columns = self._request.shape[1]
        for start, other, _, theirs in self._swapped(self._grid.codes):
            row = theirs.reshape(2, columns)[other]
            self._grid.put_row(self._grid.codes, start + other, row)

    def allocation(self) -> Any:
        """Return the numbers of nearest sources of own rows, int32, on the device.

        After `directions`. Paths lead from band to band, so each rank finds where paths from its
        first and its last row leave it or end, and all ranks join these pieces.
        """
        cells, links = self._ends()
        if self._channel.size > 1:
            with collective(self._channel):
                pieces = self._pieces(cells, links)
            joined = np.concatenate(self._channel.gather(pieces))
            while (joined >= 0).any():
                joined = np.where(joined >= 0, joined[joined], joined)
            links = np.where(links >= 0, joined[links], links)
        with collective(self._channel):
            result = self._grid.allocation(cells, (-2 - links).astype(np.int32))
        return result[self._rows.own]

    def _ends(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the cells at which paths end or leave this rank, and what each leads to.

        That is −2 − its number for a source, else the place of a neighbour's cell among all ranks'
        pieces.
        """
        request, problem, columns = self._request, self._problem, self._request.shape[1]
        first = self._rows.first * columns
        own = np.searchsorted(request.sources, problem.sources + first)
        cells, links = [problem.sources], [-2 - request.numbers[own]]
        row = np.arange(columns)
        for peer, (start, other) in self._rows.shared.items():
            cells.append((start + other) * columns + row)
            links.append((2 * peer + 1 - other) * columns + row)
        return np.concatenate(cells), np.concatenate(links)

    def _pieces(self, cells: NDArray[np.int64], links: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return what the cells of the first and of the last own row lead to; −1 for nothing."""
        own, columns = self._rows.own, self._request.shape[1]
        if own.start == own.stop:
            return np.full(2 * columns, -1)
        ends = self._grid.allocation(cells, np.arange(len(cells), dtype=np.int32))
        rows = [self._grid.on_host(ends[row]) for row in (own.start, own.stop - 1)]
        pieces: NDArray[np.int64] = np.append(links, -1)[np.concatenate(rows)]
        return pieces

    def whole(self, values: Any) -> NDArray[Any] | None:
        """Return all ranks' own rows in host memory, on rank 0; None elsewhere."""
        parts = self._channel.collect(self._grid.on_host(values).reshape(-1))
        if parts is None:
            return None
        return (parts[0] if len(parts) == 1 else np.concatenate(parts)).reshape(self._request.shape)
