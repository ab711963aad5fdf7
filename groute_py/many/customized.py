"""Distances of pairs and matrices, on a graph whose weights change: `customize`."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from threading import RLock
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from groute_py.device.registry import Makers, kind_of, of_module
from groute_py.device.rows import NarrowError
from groute_py.errors import GraphError, InputError, quoted
from groute_py.graph.arrays import as_int64, as_weights, host_array, on_device
from groute_py.graph.csr import Graph, GraphLike
from groute_py.graph.hierarchy.separators.customizable import CustomizableHierarchy, customizable
from groute_py.graph.hierarchy.separators.lengths import NARROW, WIDE, Lengths
from groute_py.graph.ids import Positions, integers
from groute_py.io.tables.columns import Columns
from groute_py.many.sources import vertices_in
from groute_py.source.graph_source import GraphSource
from groute_py.system.environment import local_rank
from groute_py.system.memory_limits import check_room

T = TypeVar("T")

Vertices = Sequence[int] | NDArray[Any] | Positions
"""Vertices by their ids, on the host or, as CuPy's array, on the GPU."""


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
    kind: Lengths
    weights: Any

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

    def rows(self, sources: Any) -> Any:
        """Distances from each source to all vertices."""


def customize(
    graph: GraphLike,
    *,
    device: str = "auto",
    tail: Any = None,
    head: Any = None,
    weight: Any = None,
    ignore_columns: Sequence[Any] = (),
) -> Customized:
    """Order a graph by separators, for pairs and matrices with weights that change.

    The order depends on the arcs alone, and takes seconds for a million vertices. New weights then
    take milliseconds (customizable contraction hierarchies: Dibbelt, Strasser and Wagner, 2016),
    and a pair is looked up in two labels (Ouyang et al., 2018). Suits roads and other graphs with
    small separators. Needs ``pip install 'groute-py[separators]'``. Under ``mpirun`` each rank
    that calls this function works by itself.

    Args:
        graph, tail, head, weight, ignore_columns: as for `groute_py.sssp`; weights are integers,
            none negative.
        device: ``auto``, ``cpu`` or ``cuda``.

    Raises:
        GraphError: a weight is negative or a float, or the graph has no small separators or does
            not fit in memory.
        SetupError: METIS is not installed, or the device cannot be used.

    >>> town = customize("road:20x20", device="cpu")
    >>> town.pairs([37, 5], [5, 37]).tolist()
    [35311, 35311]
    """
    kind = kind_of(device, MAKERS)
    source = GraphSource(graph, Columns(tail, head, weight, ignore=ignore_columns))
    whole = source.graph().to_host()
    if not whole.vertex_count:
        raise GraphError(f"{quoted(whole.name)} has no vertices")
    _as_weights(whole.weights, whole.arc_count)
    start_s = time.monotonic()
    return customized(whole, customizable(whole, source.orders), kind, local_rank(0), start_s)


def customized(
    graph: Graph, hierarchy: CustomizableHierarchy, kind: str, local: int, start_s: float
) -> Customized:
    """Return a graph on the host, customized on a device; its order was begun at ``start_s``."""
    maker: Any = MAKERS[kind](local, False)
    device = maker(hierarchy)
    return Customized(graph, hierarchy, device, graph.weights, time.monotonic() - start_s)


class Customized:
    """A graph in an order by separators, customized for its weights; `customize` makes it.

    Several threads may share it; they work one after another. ``hierarchy`` is the order.
    """

    def __init__(
        self,
        graph: Graph,
        hierarchy: CustomizableHierarchy,
        device: Customization,
        weights: Any,
        seconds: float,
    ) -> None:
        self._graph, self.hierarchy, self._device = graph, hierarchy, device
        self._seconds, self._lock = seconds, RLock()
        self.update(weights)

    @property
    def label(self) -> str:
        """The device."""
        return self._device.label

    @property
    def statistics(self) -> dict[str, Any]:
        """The device, the sizes of the hierarchy, and the seconds that the order took."""
        return {
            "device": self.label,
            **self.hierarchy.describe(),
            "bits": 8 * self._device.kind.type.itemsize,
            "order_seconds": self._seconds,
        }

    def update(self, weights: Any, *, arcs: Any = None) -> None:
        """Take new weights, of all arcs or of some; what is asked next is answered by them.

        Args:
            weights: integers, none negative: shape (m,) in the order of the graph's arcs, or
                shape (k,) with ``arcs``. An array on the GPU (CuPy, or what else has
                ``__cuda_array_interface__``) does not leave it.
            arcs: numbers of arcs, from 0, each at most once, shape (k,); see `Graph.arc`.

        Raises:
            GraphError: weights are of another number, no integers, negative, or so great that a
                distance may not fit in 62 bits. The weights are then those from before.
            InputError: an arc is none of the graph, or is there twice.

        >>> line = customize(([0, 1, 2, 2], [1, 2], [4, 3]), device="cpu")
        >>> line.update([5, 6])
        >>> line.update([1], arcs=[0])
        >>> line.pairs([0, 0], [1, 2]).tolist()
        [1, 7]
        """
        with self._lock:
            if arcs is None:
                self._customize(self._on_device(weights, self._graph.arc_count))
            elif len(some := arcs_in(arcs, self._graph)):
                self._change(some, self._on_device(weights, len(some)))

    def pairs(self, sources: Vertices, targets: Vertices) -> Any:
        """The distances of pairs of vertices.

        Args:
            sources, targets: vertices, both of shape (k,). If both are CuPy arrays of integers,
                the answer is one as well, in the order of the current stream.

        Returns:
            int64, shape (k,), `groute_py.UNREACHED` where no path leads.

        Raises:
            GraphError: a distance does not fit in 62 bits, or labels do not fit in memory.
            InputError: an end is not a vertex, or there are not as many sources as targets.
        """
        with self._lock:
            ends = self._ends(sources, "source"), self._ends(targets, "target")
            if len(ends[0]) != len(ends[1]):
                raise InputError(
                    f"pairs need as many sources as targets, not {len(ends[0])} and {len(ends[1])}"
                )
            return self.distances(*ends)

    def distances(self, sources: NDArray[np.int64], targets: NDArray[np.int64]) -> Any:
        """The distances of pairs of vertices by position, which have been checked."""
        with self._lock:
            return self._at_any_width(lambda: self._device.pairs(sources, targets))

    def matrix(self, sources: Vertices, targets: Vertices) -> Any:
        """The distances from each of k sources to each of t targets, int64, shape (k, t).

        Raises:
            GraphError, InputError: as `pairs`.

        >>> customize(([0, 1, 2, 2], [1, 2], [4, 3]), device="cpu").matrix([0, 1], [1, 2]).tolist()
        [[4, 7], [0, 3]]
        """
        with self._lock:
            ends = self._ends(sources, "source"), self._ends(targets, "target")
            check_room(8 * len(ends[0]) * len(ends[1]), "the matrix")
            return self._at_any_width(lambda: self._device.matrix(*ends))

    def rows(self, sources: Vertices) -> Any:
        """The distances from each of k sources to all n vertices, int64, shape (k, n).

        A sweep over the hierarchy for several sources at once (PHAST: Delling et al., 2013).

        Raises:
            GraphError, InputError: as `pairs`.

        >>> customize(([0, 1, 2, 2], [1, 2], [4, 3]), device="cpu").rows([1]).tolist()
        [[9223372036854775807, 0, 3]]
        """
        with self._lock:
            begins = self._ends(sources, "source")
            check_room(8 * len(begins) * self._graph.vertex_count, f"{len(begins):,} rows")
            return self._at_any_width(lambda: self._device.rows(begins))

    def _on_device(self, weights: Any, count: int) -> Any:
        convert = getattr(self._device, "as_weights", None)
        values = convert(weights) if convert and on_device(weights) else host_array(weights)
        return _as_weights(values, count)

    def _ends(self, vertices: Any, role: str) -> Any:
        numbering = self._graph.numbering
        convert = getattr(self._device, "as_vertices", None)
        if convert and on_device(vertices) and numbering.ids is None:
            return convert(vertices, role, numbering.first)
        if not numbering.is_usual or isinstance(vertices, Positions):
            return vertices_in(self._graph, vertices, role)
        count, values = self._graph.vertex_count, host_array(vertices)
        is_list = values.ndim == 1 and len(values) and values.dtype.kind in "iu"
        if is_list and int(values.min()) >= 0 and int(values.max()) < count:
            return values
        return vertices_in(self._graph, values, role)

    def _customize(self, weights: Any) -> None:
        """Take weights in the narrowest type that holds all lengths."""
        for kind in (NARROW, WIDE):
            try:
                return self._device.customize(weights, kind)
            except NarrowError:
                continue
        raise GraphError(
            f"with such weights a distance in {quoted(self._graph.name)} may be more than "
            f"{WIDE.limit:,}; scale them down"
        )

    def _change(self, arcs: NDArray[np.int64], weights: Any) -> None:
        try:
            self._device.change(arcs, weights)
        except NarrowError:
            self._customize(self._device.changed(arcs, weights))

    def _at_any_width(self, answer: Callable[[], T]) -> T:
        """An answer, by wider lengths if need be."""
        try:
            return answer()
        except NarrowError:
            if self._device.kind is WIDE:
                raise GraphError(
                    f"a distance in {quoted(self._graph.name)} may be more than {WIDE.limit:,}; "
                    "scale the weights down"
                ) from None
        self._device.customize(self._device.weights, WIDE)
        return self._at_any_width(answer)


def _as_weights(weights: Any, count: int) -> Any:
    """Weights that can be customized, where they are; all of them fit in int64."""
    if weights.shape != (count,):
        raise GraphError(f"{count:,} weights are needed, not an array of shape {weights.shape}")
    if weights.dtype.kind not in "iub" and count:
        raise GraphError(
            f"weights of a customizable hierarchy are integers, not {weights.dtype}: sums of "
            "floats would be rounded in another order than along a path; scale them to integers"
        )
    values = as_int64(weights, "one of the weights") if weights.dtype == np.uint64 else weights
    if count and (least := int(values.min())) < 0:
        arc = int(values.argmin())
        raise GraphError(f"the weight of arc {arc} is negative ({least})")
    return values


def with_other_weights(graph: Graph, weights: Any, arcs: Any = None) -> Graph:
    """The graph with other weights for all arcs, or for some; `Customized.update` says which."""
    values = as_weights(host_array(weights))
    if arcs is None:
        return graph.with_weights(values)
    some = arcs_in(arcs, graph)
    if values.shape != some.shape:
        raise GraphError(f"{len(some):,} weights are needed, not an array of shape {values.shape}")
    kind = graph.weights.dtype
    with np.errstate(all="ignore"):
        fits = kind.kind == "f" or np.array_equal(values.astype(kind), values)
    changed = graph.weights.astype(kind if fits else np.result_type(values, np.int64))
    changed[some] = values
    return graph.with_weights(changed)


def arcs_in(arcs: Any, graph: Graph) -> NDArray[np.int64]:
    """Numbers of arcs as a user gives them, each of them once."""
    some = integers(arcs, "arc")
    if some.ndim != 1:
        raise InputError(f"arcs must be a list of numbers, not of shape {some.shape}")
    wrong = (some < 0) | (some >= graph.arc_count)
    if wrong.any():
        number = int(some[wrong.argmax()])
        raise InputError(
            f"arc {number} is none of {quoted(graph.name)}; arcs are 0..{graph.arc_count - 1}"
        )
    if len(np.unique(some)) < len(some):
        values, counts = np.unique(some, return_counts=True)
        raise InputError(f"arc {int(values[counts.argmax()])} is there twice; give it one weight")
    return some
