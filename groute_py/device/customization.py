"""Customizable hierarchies on the kinds of devices."""

from __future__ import annotations

from functools import partial
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from groute_py.device.registry import Makers, of_module
from groute_py.graph.hierarchy.separators.lengths import Lengths


def _on_gpu(local: int, _: bool) -> Any:
    module = "groute_py.device.cuda.hierarchy.customization"
    return partial(of_module(module, "CudaCustomization"), local)


MAKERS: Makers = {
    "cpu": lambda *_: of_module("groute_py.device.cpu.customization", "CpuCustomization"),
    "cuda": _on_gpu,
}
"""Makers of customizations, by the kind of device."""


class Customization(Protocol):
    """A customizable hierarchy on a device, with the weights of the graph's arcs.

    `NarrowError` leaves it as it was.
    """

    label: str
    shares: int  # of the labels, on as many ranks; 1 if this one has all or none
    shortage: str  # why a GPU has no room for labels that would pay, or ""
    kind: Lengths
    weights: Any

    def share(self, count: int) -> None:
        """Have what looks up so many pairs on all ranks of the host; collective.

        A `NarrowError` is one on all ranks.
        """

    def close(self) -> None:
        """Free the labels; collective."""

    def customize(self, weights: Any, kind: Lengths) -> None:
        """Take other weights for all arcs; they are not negative, and on the device."""

    def change(self, arcs: NDArray[np.int64], weights: Any) -> None:
        """Take other weights for some arcs."""

    def changed(self, arcs: NDArray[np.int64], weights: Any) -> Any:
        """The weights of all arcs if some were others."""

    def pairs(self, sources: Any, targets: Any) -> Any:
        """Distances of pairs, int64, with the greatest number where no path leads."""

    def matrix(self, sources: Any, targets: Any) -> Any:
        """Distances from each source to each target."""

    def host_lengths(self) -> NDArray[Any]:
        """The lengths of the arcs of the hierarchy, in host memory."""

    def rows(self, sources: Any) -> Any:
        """Distances from each source to all vertices."""
