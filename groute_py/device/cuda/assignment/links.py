"""Costs of links on a GPU, and sums over them: the kernels of ``kernels/assignment/links.cu``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import cupy as cp
import numpy as np
from numpy.typing import NDArray

from groute_py.device.cuda.runtime.compile import kernels_of
from groute_py.device.cuda.runtime.launch import Repeated
from groute_py.device.cuda.runtime.structs import pointed
from groute_py.kernels.source import LINKS
from groute_py.kernels.structs import struct

BLOCK, MOST_BLOCKS = 256, 1024
"""Threads of a block, and blocks of a sum at most."""

FORMULAS = ("bpr", "conical")
"""By their numbers in the kernels."""

POINTS = 4
"""Points whose products or sum are taken, at most."""

UPPER = np.triu_indices(POINTS)
PRODUCTS = len(UPPER[0])
"""Places of products in their matrix, in the order of the kernel, and how many these are."""

TRIALS_AT_ONCE = 10
"""Trials of a line search before the host looks whether it is over."""

SEARCH = ("low", "high", "step", "fixed", "is_over")


class CudaLinks:
    """A `groute_py.assignment.links.Links` on the current GPU, in the current stream.

    Args:
        formula: one of `FORMULAS`.
        coefficients: of the formula, float64, shape (4, m).
        fixed: costs besides the time, by class, float64, shape (c, m).
        pce: the volume of a trip, by class, float64, shape (c,).
        accuracy, trials: of a line search.
    """

    def __init__(
        self,
        formula: str,
        coefficients: NDArray[np.float64],
        fixed: NDArray[np.float64],
        pce: NDArray[np.float64],
        accuracy: float,
        trials: int,
    ) -> None:
        count, links = fixed.shape
        self._kernels = kernels_of(LINKS, np.dtype(np.float64), 0)
        self._blocks = max(min(-(-links // BLOCK), MOST_BLOCKS), 1)
        self._arrays = [cp.asarray(np.append(some, 0)) for some in (coefficients, fixed, pce)]
        numbers = {"formula": FORMULAS.index(formula), "links": links}
        self._times = pointed(struct(LINKS, "Times"), {"coefficients": self._arrays[0]}, numbers)
        own = {"fixed": self._arrays[1], "cars": self._arrays[2]}
        self._classes = pointed(struct(LINKS, "Classes"), own, {"count": count})
        self._totals, self._search = cp.zeros(PRODUCTS), cp.zeros(len(SEARCH))
        self._words = {
            "parts": cp.empty(PRODUCTS * self._blocks),
            "arrivals": cp.zeros(1, np.uint32),
            "totals": self._totals,
        }
        self._sums = pointed(struct(LINKS, "Sums"), self._words, {})
        self._way = cp.empty(links), cp.empty(links)
        self._accuracy, self._rounds = accuracy, -(-trials // TRIALS_AT_ONCE)
        self._try = Repeated(self._launch_trials)

    def own(self, flows: Any) -> Any:
        return cp.asarray(flows)

    def stack(self, rows: Sequence[Any]) -> Any:
        own = [cp.asarray(row) for row in rows]
        return cp.stack(own) if len(own) > 1 else own[0][None]

    def costs(self, flows: Any) -> Any:
        costs = cp.empty(flows.shape, np.float64)
        self._run("evaluate", self._times, self._classes, flows, costs, self._sums)
        return costs

    def sums(self) -> tuple[float, float]:
        paid, objective = self._totals[:2].get().tolist()
        return paid, objective

    def products(self, flows: Any, points: Sequence[Any]) -> NDArray[np.float64]:
        """See `groute_py.assignment.links.Links`; at most `POINTS` points."""
        words = self._times, self._classes, flows, _pointers(points), self._sums
        self._run("multiply", *words)
        products = np.empty((POINTS, POINTS))
        products[UPPER] = products.T[UPPER] = self._totals.get()
        return products[: len(points), : len(points)]

    def mix(self, shares: Any, points: Sequence[Any]) -> Any:
        """See `groute_py.assignment.links.Links`; at most `POINTS` points."""
        whole, weights = cp.empty_like(points[0]), np.zeros(POINTS)
        weights[: len(shares)] = shares
        words = (
            np.uint32(whole.size),
            _pointers(points),
            weights.view(struct(LINKS, "Shares")),
            whole,
        )
        self._run("mix", *words)
        return whole

    def least(self, flows: Any, target: Any) -> float:
        words = flows, target, *self._way, self._search, self._sums
        self._run("begin_search", self._times, self._classes, *words)
        state = np.zeros(len(SEARCH))
        for _ in range(self._rounds):
            self._try()
            state = self._search.get()
            if state[SEARCH.index("is_over")]:
                return min(float(state[SEARCH.index("step")]), 1.0)
        return float(state[SEARCH.index("low")])

    def _launch_trials(self) -> None:
        words = *self._way, np.float64(self._accuracy), self._search, self._sums
        for _ in range(TRIALS_AT_ONCE):
            self._run("search_step", self._times, *words)

    def _run(self, name: str, *words: Any) -> None:
        self._kernels[name]((self._blocks,), (BLOCK,), words)


def _pointers(points: Sequence[Any]) -> Any:
    """Return the struct of some points, of which the last stands for those that are missing."""
    return pointed(
        struct(LINKS, "Points"), {"flows": [*points, *[points[-1]] * (POINTS - len(points))]}, {}
    )
