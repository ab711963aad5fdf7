"""Distances of pairs and matrices, on a graph whose weights change: `customize`."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from threading import RLock
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from groute_py.comm.agree import collective
from groute_py.comm.base import Channel, SoloChannel
from groute_py.device.customization import MAKERS, Customization
from groute_py.device.registry import kind_of
from groute_py.device.rows import NarrowError
from groute_py.errors import GraphError, InputError, quoted
from groute_py.graph.arrays import array_of, host_array, on_device
from groute_py.graph.csr import Graph, GraphLike
from groute_py.graph.hierarchy.separators.customizable import CustomizableHierarchy, customizable
from groute_py.graph.hierarchy.separators.lengths import NARROW, WIDE
from groute_py.graph.ids import Positions
from groute_py.io.tables.columns import Columns
from groute_py.many.new_weights import arcs_in, checked_weights, count_of, in_units, unit_for
from groute_py.many.paths import PathFinder
from groute_py.many.sources import MANY, all_below, naming, vertices_in
from groute_py.results.distances import UNREACHED
from groute_py.source.graph_source import GraphSource
from groute_py.system.environment import local_rank
from groute_py.system.memory_limits import check_room

T = TypeVar("T")

Vertices = Sequence[int] | NDArray[Any] | Positions
"""Vertices by their ids, on the host or, as CuPy's array, on the GPU."""

Metrics = Iterable[Any] | NDArray[Any] | None
"""Sets of weights for all arcs; None for the one that there is."""


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
    and many pairs are looked up in labels (Ouyang et al., 2018). Suits roads and other graphs with
    small separators. Needs ``pip install 'groute-py[separators]'``. Under ``mpirun`` each rank
    that calls this function works by itself.

    Args:
        graph, tail, head, weight, ignore_columns: as for `groute_py.sssp`; no weight is negative.
        device: ``auto``, ``cpu`` or ``cuda``.

    Raises:
        GraphError: a weight is negative or not finite, or the graph has no small separators or does
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
    checked_weights(whole.weights, whole.arc_count)
    start_s = time.monotonic()
    order = customizable(whole, source.orders)
    return Customized(SoloChannel(), whole, order, kind, time.monotonic() - start_s)


class Customized:
    """A graph in an order by separators, customized for its weights; `customize` makes it.

    Several threads may share it; they work one after another. It is pickled whole, with its order
    and the weights that it has.

    Float weights are rounded to multiples of a unit, and added exactly. So a distance is off by at
    most half a unit for each arc of the path, and by the last digit of float64.

    Attributes:
        hierarchy: the order.
        unit: a power of two, at most 2⁻⁵⁹ of the greatest weight times the number of vertices; None
            for integers, whose distances are exact.
    """

    def __init__(
        self,
        channel: Channel,
        graph: Graph,
        hierarchy: CustomizableHierarchy,
        kind: str,
        seconds: float,
    ) -> None:
        """Customize a graph on the host on a kind of device; its order took so many seconds.

        The ranks of the channel, which are of one host, have the same graph; see `share`.
        """
        maker: Any = MAKERS[kind](local_rank(channel.rank), False)
        self._channel, self._graph, self.hierarchy, self._kind = channel, graph, hierarchy, kind
        self._device: Customization = maker(channel, hierarchy)
        self._seconds, self._lock = seconds, RLock()
        self.unit: float | None = None
        self._finder: PathFinder | None = None
        self._unpacked: Any = None  # the weights of the finder's lengths
        self.update(graph.weights)

    def __reduce__(self) -> tuple[Any, ...]:
        with self._lock:
            weights = host_array(self._device.weights), self.unit
        parts = SoloChannel(), self._graph, self.hierarchy, self._kind, self._seconds
        return type(self), parts, weights

    def __setstate__(self, weights: tuple[Any, float | None]) -> None:
        self._customize_whole(*weights)

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
            "unit": self.unit,
            "order_seconds": self._seconds,
        }

    def update(self, weights: Any, *, arcs: Any = None) -> None:
        """Take new weights, of all arcs or of some; what is asked next is answered by them.

        Args:
            weights: none negative: shape (m,) in the order of the graph's arcs, or shape (k,) with
                ``arcs``, integers then if the others are. An array on the GPU (CuPy, or what else
                has ``__cuda_array_interface__``) does not leave it.
            arcs: numbers of arcs, from 0, each at most once, shape (k,); see `Graph.arc`.

        Raises:
            GraphError: weights are of another number, negative, not finite, or so great that a
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
                values = self._on_device(weights, self._graph.arc_count)
                is_float = values.dtype.kind == "f"
                unit = unit_for(values, self._graph.vertex_count) if is_float else None
                whole = values if unit is None else in_units(values, unit)
                self._customize_whole(whole, unit)
            elif len(some := arcs_in(arcs, self._graph)):
                self._change(some, self._on_device(weights, len(some)))

    def pairs(self, sources: Vertices, targets: Vertices, *, weights: Metrics = None) -> Any:
        """The distances of pairs of vertices.

        Args:
            sources, targets: vertices, both of shape (k,). If both are CuPy arrays of integers,
                the answer is one as well, in the order of the current stream.
            weights: of all arcs, for this call alone: shape (t, m), or an iterable that gives
                arrays of shape (m,), such as those of t times of day.

        Returns:
            Shape (k,), or (t, k) with ``weights``: int64, and `groute_py.UNREACHED` where no path
            leads; float64 and infinity if weights are floats.

        Raises:
            GraphError: a distance does not fit in 62 bits, or ``weights`` are wrong, as for
                `update`.
            InputError: an end is not a vertex, or there are not as many sources as targets.

        >>> line = customize(([0, 1, 2, 2], [1, 2], [4, 3]), device="cpu")
        >>> line.pairs([0, 1], [2, 2], weights=[[1, 1], [5, 6]]).tolist()
        [[2, 1], [11, 6]]
        """
        with self._lock, naming(self._graph, source=sources, target=targets):
            ends = self._pair_ends(sources, targets)
            return self._answer(lambda: self._device.pairs(*ends), weights)

    @property
    def shares(self) -> int:
        """Into how many shares the ranks of this host have split the labels; 1 if not at all."""
        return self._device.shares

    @property
    def shortage(self) -> str:
        """The reason why a GPU has no room for labels that would pay, or ""."""
        return self._device.shortage

    def share(self, count: int) -> None:
        """Have labels on the ranks of this host, if they pay for so many pairs. Collective.

        What is asked next, each rank answers by itself.

        Raises:
            GraphError: a distance does not fit in 62 bits.
        """
        with self._lock:
            if any(self._channel.gather(self._device.kind is WIDE)):
                self._widen()
            try:
                self._device.share(count)
            except NarrowError:  # on all ranks
                if self._device.kind is WIDE:
                    raise self._too_great() from None
                self._widen()
                self.share(count)

    def close(self) -> None:
        """Free the labels. Collective."""
        with self._lock:
            self._device.close()

    def distances(self, sources: NDArray[np.int64], targets: NDArray[np.int64]) -> Any:
        """The distances of pairs of vertices by position, which have been checked."""
        with self._lock:
            return self._answer(lambda: self._device.pairs(sources, targets))

    def paths(self, sources: Vertices, targets: Vertices) -> list[NDArray[Any]]:
        """The ids of the vertices on a shortest path of each of k pairs; none without a path.

        Found on the cores. Of equally short paths any may come.

        Raises:
            GraphError, InputError: as `pairs`.

        >>> customize(([0, 1, 2, 2], [1, 2], [4, 3]), device="cpu").paths([0], [2])[0].tolist()
        [0, 1, 2]
        """
        with self._lock, naming(self._graph, source=sources, target=targets):
            ends = (v if isinstance(v, Positions) else host_array(v) for v in (sources, targets))
            _, paths = self.routes(*self._pair_ends(*ends))
            return [self._graph.numbering.ids_of(path) for path in paths]

    def routes(
        self, sources: NDArray[np.int64], targets: NDArray[np.int64]
    ) -> tuple[Any, list[NDArray[np.int64]]]:
        """Distances and paths of pairs, all by position; the pairs have been checked."""
        with self._lock:
            distances = self.distances(sources, targets)  # which makes lengths as wide as need be
            if self._finder is None:
                self._finder = PathFinder(self.hierarchy)
            if self._unpacked is not self._device.weights:
                lengths = self._device.host_lengths(), self._device.kind
                self._finder.take(host_array(self._device.weights), *lengths)
                self._unpacked = self._device.weights
            return distances, self._finder.paths(sources, targets)

    def matrix(self, sources: Vertices, targets: Vertices, *, weights: Metrics = None) -> Any:
        """The distances from each of k sources to each of t targets, shape (k, t); as `pairs`.

        Raises:
            GraphError, InputError: as `pairs`.

        >>> customize(([0, 1, 2, 2], [1, 2], [4, 3]), device="cpu").matrix([0, 1], [1, 2]).tolist()
        [[4, 7], [0, 3]]
        """
        with self._lock, naming(self._graph, source=sources, target=targets):
            ends = self._ends(sources, "source"), self._ends(targets, "target")
            check_room(8 * len(ends[0]) * len(ends[1]) * count_of(weights), "the matrix")
            return self._answer(lambda: self._device.matrix(*ends), weights)

    def rows(self, sources: Vertices, *, weights: Metrics = None) -> Any:
        """The distances from each of k sources to all n vertices, shape (k, n); as `pairs`.

        A sweep over the hierarchy for several sources at once (PHAST: Delling et al., 2013).

        Raises:
            GraphError, InputError: as `pairs`.

        >>> customize(([0, 1, 2, 2], [1, 2], [4, 3]), device="cpu").rows([1]).tolist()
        [[9223372036854775807, 0, 3]]
        """
        with self._lock, naming(self._graph, source=sources):
            begins = self._ends(sources, "source")
            size = len(begins) * self._graph.vertex_count * count_of(weights)
            check_room(8 * size, f"{len(begins):,} rows")
            return self._answer(lambda: self._device.rows(begins), weights)

    def _on_device(self, weights: Any, count: int) -> Any:
        convert = getattr(self._device, "as_weights", None)
        values = array_of(weights)
        values = convert(values) if convert and on_device(values) else host_array(values)
        return checked_weights(values, count)

    def _pair_ends(self, sources: Vertices, targets: Vertices) -> tuple[Any, Any]:
        ends = self._ends(sources, "source"), self._ends(targets, "target")
        if len(ends[0]) != len(ends[1]):
            raise InputError(
                f"pairs need as many sources as targets, not {len(ends[0])} and {len(ends[1])}"
            )
        return ends

    def _ends(self, vertices: Any, role: str) -> Any:
        numbering = self._graph.numbering
        convert = getattr(self._device, "as_vertices", None)
        if callable(vertices) or isinstance(vertices, Positions):
            return vertices_in(self._graph, vertices, role)
        values = array_of(vertices)
        if convert and on_device(values) and numbering.ids is None:
            return convert(values, role, numbering.first)
        if not numbering.is_usual:
            return vertices_in(self._graph, vertices, role)
        count, values = self._graph.vertex_count, host_array(values)
        is_list = values.ndim == 1 and len(values) and values.dtype.kind in "iu"
        are_checked_there = convert and values.itemsize == 4 and len(values) >= MANY
        if is_list and (are_checked_there or all_below(values, count)):
            return values
        return vertices_in(self._graph, values, role)

    def _customize_whole(self, weights: Any, unit: float | None) -> None:
        """Take whole weights in the narrowest type that holds all lengths."""
        for kind in (NARROW, WIDE) if unit is None else (WIDE,):
            try:
                self._device.customize(weights, kind)
            except NarrowError:
                continue
            self.unit = unit
            return
        raise self._too_great()

    def _change(self, arcs: NDArray[np.int64], weights: Any) -> None:
        if self.unit is not None:
            weights = in_units(weights, self.unit)
        elif weights.dtype.kind == "f":
            raise GraphError(
                f"the weights of some arcs are {weights.dtype}, and those of the others integers; "
                "give integers, or weights for all arcs"
            )
        try:
            self._device.change(arcs, weights)
        except NarrowError:
            self._customize_whole(self._device.changed(arcs, weights), self.unit)

    def _answer(self, answer: Callable[[], Any], metrics: Metrics = None) -> Any:
        """An answer, or one for each of several sets of weights; the weights stay."""
        if metrics is None:
            return self._in_public(self._at_any_width(answer))
        answers, before, unit = list[Any](), self._device.weights, self.unit
        try:
            for number, weights in enumerate(metrics):
                try:
                    self.update(weights)
                    answers.append(self._answer(answer))
                except GraphError as problem:
                    raise GraphError(f"weights[{number}]: {problem}") from problem
        finally:
            self._customize_whole(before, unit)
        if len({each.dtype for each in answers}) != 1:
            raise InputError("weights must be integers, or floats, for at least one set of arcs")
        return np.stack(answers)

    def _in_public(self, lengths: Any) -> Any:
        """Lengths in the unit of the weights."""
        if self.unit is None:
            return lengths
        distances = lengths * self.unit
        distances[lengths == UNREACHED] = np.inf
        return distances

    def _at_any_width(self, answer: Callable[[], T]) -> T:
        """An answer, by wider lengths if need be."""
        try:
            return answer()
        except NarrowError:
            if self._device.kind is WIDE:
                raise self._too_great() from None
        self._device.customize(self._device.weights, WIDE)
        return self._at_any_width(answer)

    def _widen(self) -> None:
        with collective(self._channel):
            if self._device.kind is not WIDE:
                self._device.customize(self._device.weights, WIDE)

    def _too_great(self) -> GraphError:
        return GraphError(
            f"with such weights a distance in {quoted(self._graph.name)} may be more than "
            f"{WIDE.limit:,}; scale them down"
        )
