"""Frontier Dijkstra on one GPU: the kernels of ``kernels/frontier.cu``."""

from __future__ import annotations

from typing import Any

import cupy as cp
import numpy as np
from cupy.cuda import driver

from groute_py.device.base import Counters, Windows
from groute_py.device.cuda.graph.transpose import refuse_too_many
from groute_py.device.cuda.runtime.compile import kernels_of
from groute_py.device.cuda.runtime.launch import Call
from groute_py.device.cuda.runtime.sort import sort_rows
from groute_py.device.cuda.runtime.structs import NUMBER, POINTER, SHARE, pointed
from groute_py.device.cuda.sssp.device import CudaDevice
from groute_py.device.cuda.sssp.predecessors import NOBODY
from groute_py.kernels.choices import CRITERIA
from groute_py.kernels.source import FRONTIER, WIDE_BLOCK
from groute_py.partition.share import Share

MOST_ALONE, FEWEST_TOGETHER = 4096, 1024
"""One block goes on up to so many open vertices, which is ROOM in the kernel; the whole grid goes
on down to so many."""

SLICE_ROUNDS = 1 << 13
"""Some 30 ms, so that a signal is heard."""

FRONTIER_STRUCT = np.dtype(
    [
        ("lightest", POINTER),
        ("closed", POINTER),
        ("skip", POINTER),
        ("open", POINTER, 2),
    ],
    align=True,
)


def rounds_type(distance_type: np.dtype[Any]) -> np.dtype[Any]:
    """The struct Rounds of the kernel."""
    tally = np.dtype(
        [("least", distance_type, 3), ("bound", distance_type, 3), ("open_count", NUMBER, 3)],
        align=True,
    )
    return np.dtype(
        [
            ("relaxations", np.uint64),
            ("settled", np.uint64),
            ("rounds", np.uint64),
            ("overflowed", NUMBER),
            ("padding", NUMBER),
            ("tally", tally),
        ],
        align=True,
    )


def taking(distance_type: np.dtype[Any]) -> dict[str, Any]:
    """What ``take_rounds_alone`` and ``take_rounds_together`` take."""
    return {
        "share": SHARE,
        "frontier": FRONTIER_STRUCT,
        **dict.fromkeys(("distances", "control", "rounds"), POINTER),
        "criterion": NUMBER,
        "cutoff": distance_type,
        "limit": np.float64,
        "max_rounds": NUMBER,
        "few": NUMBER,
    }


class FrontierCuda(CudaDevice):
    """A GPU that settles many vertices in a round.

    Args:
        local_rank, direct: as for `CudaDevice`.
        criterion: a key of `CRITERIA`.
    """

    remedy = "use --algorithm delta-stepping, which takes less"

    def __init__(self, local_rank: int, *, direct: bool, criterion: str) -> None:
        super().__init__(local_rank, direct=direct)
        self._criterion = np.uint32(CRITERIA[criterion])

    def let_go(self) -> None:
        super().let_go()
        self._frontier: dict[str, Any] = {}

    def _compile(self) -> None:
        super()._compile()
        self._frontier_kernels = kernels_of(FRONTIER, self._type, self._terms.arcs)
        alone, together = (
            self._frontier_kernels[f"take_rounds_{how}"].kernel for how in ("alone", "together")
        )
        fits = driver.occupancyMaxActiveBlocksPerMultiprocessor(together.ptr, WIDE_BLOCK, 0)
        assert fits > 0, "the grid barrier needs every block to run"
        takes = taking(self._type)
        self._taking_alone = Call(alone, 1, WIDE_BLOCK, takes)
        self._taking_together = Call(together, self._processors, WIDE_BLOCK, takes)

    def _arrange(self, share: Share) -> None:
        refuse_too_many(len(share.heads))
        sort_rows(self._graph["offsets"], self._graph["arcs"], self._type)
        own = share.own_count
        shapes: dict[str, tuple[Any, Any]] = {
            "lightest": (own, self._type),
            "closed": (own, np.uint32),
            "skip": (own, np.uint32),
            "open": ((2, max(own, 1)), np.uint32),
        }
        self._frontier = {name: cp.empty(*shape) for name, shape in shapes.items()}
        self._frontier_at = pointed(FRONTIER_STRUCT, self._frontier, {})
        self._rounds_type = rounds_type(self._type)
        self._rounds = cp.zeros(self._rounds_type.itemsize, np.uint8)
        lightest = self._frontier["lightest"]
        lightest.fill(self._nothing)
        self._run_rounds("weigh_incoming", len(share.heads) // 8, self._share_at, lightest)

    def start(self, source: int | None, windows: Windows, cutoff: float, *, record: bool) -> None:
        super().start(source, windows, cutoff, record=False)
        self._begin()
        state = (self._share_at, self._frontier_at, self._rounds)
        number = np.uint32(NOBODY if source is None else source)
        with self._stream:
            self._run_rounds("begin_rounds", self._share.own_count, *state, number)
        self._alone = True

    def relax(self, limit: float) -> float:
        while True:
            with self._stream:
                self._take_rounds(limit)
                seen = self._rounds.get().view(self._rounds_type)[0]
            now = int(seen["rounds"]) % 3
            count, before = int(seen["tally"]["open_count"][now]), self.counters.steps
            self.counters = Counters(
                relaxations=int(seen["relaxations"]),
                steps=int(seen["rounds"]),
                slices=self.counters.slices + int(seen["rounds"] > before),
                overflowed=bool(seen["overflowed"]),
                settled=int(seen["settled"]),
            )
            if count == 0:
                return np.inf
            if self._alone and count > MOST_ALONE:
                self._alone = False
            elif not self._alone and count < FEWEST_TOGETHER:
                self._alone = True
            else:
                return self._floor(seen)

    def _floor(self, seen: Any) -> float:
        """L, if the round was evaluated before the slice ended, else that of the round before."""
        least, rounds = seen["tally"]["least"], int(seen["rounds"])
        if least[rounds % 3] != self._nothing:
            return float(least[rounds % 3])
        return float(least[(rounds - 1) % 3]) if rounds else 0.0

    def _take_rounds(self, limit: float) -> None:
        call = self._taking_alone if self._alone else self._taking_together
        call.launch(
            self._stream,
            share=self._share_at,
            frontier=self._frontier_at,
            distances=self._arrays["distance"].data.ptr,
            control=self._control.data.ptr,
            rounds=self._rounds.data.ptr,
            criterion=self._criterion,
            cutoff=self._cutoff,
            limit=limit,
            max_rounds=SLICE_ROUNDS,
            few=FEWEST_TOGETHER,
        )

    def _run_rounds(self, name: str, threads: int, *arguments: Any) -> None:
        blocks = max((threads + WIDE_BLOCK - 1) // WIDE_BLOCK, 1)
        self._frontier_kernels[name]((blocks,), (WIDE_BLOCK,), arguments)
