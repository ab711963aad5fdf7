"""Bellman-Ford by min-plus products on one core: `groute_py.kernels.cpu.pull`."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np

from groute_py.device.base import Terms
from groute_py.device.cpu.methods.base import AloneCpu
from groute_py.errors import InputError
from groute_py.kernels.choices import SLOTS_AN_ARC, WIDEST_MATRIX, too_dense, too_uneven
from groute_py.kernels.cpu import pull
from groute_py.partition.share import Share


class PullCpu(AloneCpu):
    """A core on which every vertex takes the best of its incoming arcs, round by round."""

    def load(self, share: Share, terms: Terms) -> None:
        super().load(share, terms)
        self._incoming = np.zeros(share.own_count + 1, np.uint64)
        self._tails = np.empty(len(share.heads), np.uint32)
        self._values = np.empty(len(share.heads), terms.distance_type)
        pull.transpose(*self._arcs, self._incoming, self._tails, self._values)
        self.arrange()

    def arrange(self) -> None:
        """Put the incoming arcs, which are in rows, into the method's own storage."""

    @abstractmethod
    def take_rounds(self, state: tuple[Any, ...]) -> None:
        """Call the method's kernel with the arguments that all have in common."""

    def step(self, limit: float) -> Any:
        self.take_rounds((self._distances, self._at, self._cutoff, self._nothing, self._slice))
        return self.left()


class CsrCpu(PullCpu):
    """In compressed sparse rows."""

    def take_rounds(self, state: tuple[Any, ...]) -> None:
        pull.csr(self._incoming, self._tails, self._values, *state)


class EllCpu(PullCpu):
    """In equally many slots a vertex."""

    def arrange(self) -> None:
        degrees = np.diff(self._incoming).astype(np.int64)
        own, width = len(degrees), int(degrees.max(initial=0))
        if too_uneven(width, own, len(self._tails)):
            raise InputError(
                f"a vertex has {width:,} incoming arcs: ELL storage would have more than "
                f"{SLOTS_AN_ARC} slots an arc; use --algorithm csr-bellman-ford"
            )
        heads = np.repeat(np.arange(own), degrees)
        slots = np.arange(len(self._tails)) - self._incoming[heads].astype(np.int64)
        self._slot_tails = np.zeros((width, own), np.uint32)
        self._slot_values = np.full((width, own), self._nothing, self._type)
        self._slot_tails[slots, heads] = self._tails
        self._slot_values[slots, heads] = self._values

    def take_rounds(self, state: tuple[Any, ...]) -> None:
        pull.ell(self._slot_tails, self._slot_values, *state)


class DenseCpu(PullCpu):
    """In a matrix."""

    def arrange(self) -> None:
        own = self._share.own_count
        if too_dense(own):
            raise InputError(
                f"a matrix of {own:,} vertices is too large (at most {WIDEST_MATRIX:,}); use "
                "--algorithm csr-bellman-ford"
            )
        heads = np.repeat(np.arange(own), np.diff(self._incoming).astype(np.int64))
        self._matrix = np.full((own, own), self._nothing, self._type)
        np.minimum.at(self._matrix, (heads, self._tails), self._values)

    def take_rounds(self, state: tuple[Any, ...]) -> None:
        pull.dense(self._matrix, *state)
