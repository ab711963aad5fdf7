"""The graph: compressed sparse rows, immutable, checked once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.errors import GraphError, InputError, check_kind, quote, quoted
from groute_py.graph.arrays import (
    WEIGHT_TYPES,
    as_int64,
    as_integers,
    as_weights,
    check_arcs,
    check_are_arrays,
    check_coordinates,
    check_ids,
    check_offsets,
    check_types,
    on_device,
    protected,
)
from groute_py.graph.geography import Geography, Shapes, Units, check_shapes
from groute_py.graph.ids import Numbering, Positions
from groute_py.graph.read_report import Reading, of_other_weights, title_of_weights
from groute_py.graph.scale import Scale
from groute_py.graph.tails import all_tails, transposed
from groute_py.graph.units import units_of
from groute_py.system.paths import as_text

LONGEST_TEXT = 255
"""Characters of a column's name, or of an attribution."""


@dataclass(frozen=True, eq=False)
class Graph:
    """A directed graph with weighted arcs.

    Row ``v`` of the arrays, ``offsets[v]:offsets[v + 1]``, lists the arcs that leave ``v``.
    Parallel arcs and self-loops are allowed; the lightest of parallel arcs counts.

    Args:
        offsets: int64, shape (n + 1,), from 0 to m, never decreasing.
        heads: int32 or int64, shape (m,), each in [0, n).
        weights: shape (m,), int32, uint32, int64, float32 or float64, finite.
        first_id: the id of vertex 0 in the file (1 for DIMACS).
        name: the graph's name in messages, in which bytes that are no UTF-8 are escaped.
        ids: int64 or str, shape (n,): the file's ids of the vertices, if they do not count from
            `first_id`; else None.
        reading: which columns of a table were read, and how many comments were skipped.
        coordinates: float64, shape (n, 2), finite: x and y of each vertex, or longitude and
            latitude in degrees, if they are known; else None.
        columns: weights by name, each like ``weights``, which may be one of them;
            `with_column` chooses another.
        shapes: the points between the ends of the arcs, if they are known; else None.
        arc_ids: int64 or str, shape (m,): a table's ids of its arcs, if they were asked for.
        attribution: the credit that outputs of the graph have to show, such as "© OpenStreetMap
            contributors, ODbL".
        scale: what distances stand for, where the weights are those of an objective; else None.

    Raises:
        GraphError: naming the first row or arc that breaks a rule.

    >>> graph = Graph.from_arrays([0, 2, 3, 3], [1, 2, 2], [4, 9, 3])
    >>> graph.vertex_count, graph.arc_count
    (3, 3)
    """

    offsets: NDArray[np.int64]
    heads: NDArray[Any]
    weights: NDArray[Any]
    first_id: int = 0
    name: str = "graph"
    ids: NDArray[Any] | None = None
    reading: Reading | None = None
    coordinates: NDArray[np.float64] | None = None
    columns: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    shapes: Shapes | None = None
    attribution: str = ""
    arc_ids: NDArray[Any] | None = None
    scale: Scale | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        for text in ("name", "attribution"):
            object.__setattr__(self, text, as_text(getattr(self, text)))
        check_kind("columns", self.columns, Mapping, "arrays by name")
        check_are_arrays(self._arrays())
        check_types(self.offsets, self.heads, self.weights)
        check_offsets(self.offsets)
        check_arcs(self.heads, self.weights, self.vertex_count)
        if self.ids is not None:
            check_ids(self.ids, self.vertex_count)
        if self.coordinates is not None:
            check_coordinates(self.coordinates, self.vertex_count)
        for name, column in self.columns.items():
            check_column(name, column, self)
        if len(self.attribution) > LONGEST_TEXT:
            raise GraphError(f"an attribution has at most {LONGEST_TEXT} characters")
        if self.shapes is not None:
            check_shapes(self.shapes, self.arc_count)
        if self.arc_ids is not None:
            check_ids(self.arc_ids, self.arc_count, "arc_ids")
        self._protect()

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Arrays of copies can be written to until they are a graph's."""
        self.__dict__.update(state)
        self._protect()

    def _protect(self) -> None:
        for array in (*self._arrays().values(), *(self.shapes or ())):
            if isinstance(array, np.ndarray):
                array.flags.writeable = False

    def _arrays(self) -> dict[str, Any]:
        """The arrays that there are, by name, but for those of shapes."""
        arrays = {"offsets": self.offsets, "heads": self.heads, "weights": self.weights}
        for name in ("ids", "coordinates", "arc_ids"):
            if (array := getattr(self, name)) is not None:
                arrays[name] = array
        for name, column in self.columns.items():
            arrays[f"column {name!r}"] = column
        return arrays

    @classmethod
    def from_arrays(
        cls,
        offsets: Any,
        heads: Any,
        weights: Any,
        *,
        copy: bool = True,
        first_id: int = 0,
        name: str = "graph",
    ) -> Graph:
        """Build a graph from anything that NumPy can read, converted to the types above.

        Three CuPy arrays stay on their GPU, and are shared; see `on_device`.

        Args:
            offsets: integers, shape (n + 1,).
            heads: integers, shape (m,).
            weights: real numbers, shape (m,).
            copy: copy arrays of the right types that can be written to. Read-only ones, and with
                False all of them, are shared, and must not change as long as the graph is used.
            first_id, name: as for the class.

        Raises:
            GraphError: the arrays are not a valid graph, or lie partly on a GPU.
        """
        inputs = offsets, heads, weights
        offsets = as_int64(as_integers(offsets, "offsets"), "one of the offsets")
        count = len(offsets) - 1
        heads = as_integers(heads, "heads")
        if heads.dtype not in (np.dtype(np.int32), np.dtype(np.int64)):
            heads = as_int64(heads, "one of the heads")
        weights = as_weights(weights)
        if heads.dtype == np.int64 and count <= np.iinfo(np.int32).max:
            check_types(offsets, heads, weights)
            check_offsets(offsets)
            check_arcs(heads, weights, count)
            heads = heads.astype(np.int32)
        if len({on_device(array) for array in (offsets, heads, weights)}) > 1:
            raise GraphError("some of the arrays lie on a GPU and some do not; move them together")
        arrays = (offsets, heads, weights)
        own = map(protected, arrays, inputs) if copy else (array.view() for array in arrays)
        offsets, heads, weights = own
        return cls(offsets, heads, weights, first_id=first_id, name=name)

    @property
    def on_device(self) -> bool:
        """True if the arrays are CuPy arrays; one rank solves on their GPU without a copy."""
        return on_device(self.heads)

    def to_host(self) -> Graph:
        """The graph with its arrays in host memory."""
        if not self.on_device:
            return self
        arrays: Any = (self.offsets, self.heads, self.weights)
        offsets, heads, weights = (array.get() for array in arrays)
        same_arcs: Any = {name: getattr(self, name) for name in ("columns", "shapes", "arc_ids")}
        return self.changed(offsets=offsets, heads=heads, weights=weights, **same_arcs)

    def with_unit_weights(self) -> Graph:
        """The graph with int32 weights of 1, in host memory."""
        return self.to_host()._weighed(np.ones(self.arc_count, np.int32))

    def changed(self, **changes: Any) -> Graph:
        """Return a copy with other values of some arguments of the class.

        The copy is always a plain `Graph`: a subclass's extra data may not fit the new arrays. It
        has no columns, shapes and ids of other arcs, and no coordinates of another number of
        vertices, unless ``changes`` contain them.
        """
        arguments = {entry.name: getattr(self, entry.name) for entry in fields(Graph)}
        if {"offsets", "heads"} & changes.keys():
            arguments |= {"columns": {}, "shapes": None, "arc_ids": None}
        if len(changes.get("offsets", self.offsets)) != len(self.offsets):
            arguments["coordinates"] = None
        return Graph(**arguments | changes)

    def with_weights(self, weights: Any) -> Graph:
        """The graph with other weights; the arrays of its arcs are shared.

        Args:
            weights: real numbers, shape (m,), in the order of the arcs; where the arcs are. They
                are copied, unless they are read-only.

        Raises:
            GraphError: they are not m finite numbers, or lie elsewhere than the arcs.

        >>> graph = Graph.from_arrays([0, 2, 3, 3], [1, 2, 2], [4, 9, 3])
        >>> graph.with_weights([1, 2.5, 3]).weights.tolist()
        [1.0, 2.5, 3.0]
        """
        array = as_weights(weights)
        if on_device(array) != self.on_device:
            raise GraphError("weights and arcs lie partly on a GPU; move them together")
        return self._weighed(protected(array, weights))

    def _weighed(self, weights: NDArray[Any]) -> Graph:
        reading = of_other_weights(self.reading)
        return self.changed(weights=weights, reading=reading, scale=None)

    @property
    def column(self) -> str | None:
        """The name of the column that ``weights`` is, None where it is none of them."""
        return next((name for name, of in self.columns.items() if of is self.weights), None)

    def with_column(self, name: Any) -> Graph:
        """The graph with the weights of this name; all arrays are shared.

        Raises:
            InputError: there are none of this name; the message says which there are.

        >>> graph = Graph.from_arrays([0, 1, 1], [1], [4]).changed(columns={"toll": np.array([7])})
        >>> graph.with_column("toll").weights.tolist()
        [7]
        """
        if not isinstance(name, str) or name not in self.columns:
            raise no_column(name, self.columns, self.name)
        column = self.columns[name]
        return self if column is self.weights else self.changed(weights=column, scale=None)

    def reversed(self) -> Graph:
        """The graph with each arc turned round, in host memory; ids stay.

        A distance from a vertex in it is the distance to the vertex in this graph.

        >>> graph = Graph.from_arrays([0, 2, 3, 3], [1, 2, 2], [4, 9, 3]).reversed()
        >>> graph.offsets.tolist(), graph.heads.tolist(), graph.weights.tolist()
        ([0, 0, 1, 3], [0, 0, 1], [4, 9, 3])
        """
        graph = self.to_host()
        if not has_more(graph):
            offsets, heads, weights = transposed(graph.offsets, graph.heads, graph.weights)
            return graph.changed(offsets=offsets, heads=heads, weights=weights)
        numbers = np.arange(graph.arc_count)
        offsets, heads, numbers = transposed(graph.offsets, graph.heads, numbers)
        return graph.changed(offsets=offsets, heads=heads, **of_arcs(graph, numbers, flips=True))

    def tails(self) -> NDArray[np.int64]:
        """The tail of each arc, int64, shape (m,), of a graph in host memory.

        >>> Graph.from_arrays([0, 2, 3, 3], [1, 2, 2], [4, 9, 3]).tails().tolist()
        [0, 0, 1]
        """
        return all_tails(self.offsets)

    def arc(self, tail: int | str | Positions, head: int | str | Positions) -> int:
        """The number of the arc between two vertices, in ``heads`` and ``weights``.

        Of parallel arcs it is the lightest, and the first of those.

        Args:
            tail, head: ids of the graph's file, as they are or as text.

        Raises:
            InputError: one of them is not a vertex, or no arc leads from the one to the other.

        >>> graph = Graph.from_arrays([0, 2, 3, 3], [1, 2, 2], [4, 9, 3])
        >>> graph.arc(0, 2), int(graph.weights[graph.arc(0, 2)])
        (1, 9)
        """
        numbering = self.numbering
        begin, end = (numbering.index_of(v, "vertex", self.name) for v in (tail, head))
        if (arc := self.lightest_arc(begin, end)) is None:
            ends = " to ".join(quoted(numbering.id_of(index)) for index in (begin, end))
            raise InputError(f"no arc of {self.name} leads from {ends}")
        return arc

    def lightest_arc(self, tail: int, head: int) -> int | None:
        """Find an arc by the indices of vertices, as `arc`; None if there is none."""
        arcs = self.arcs_between(tail, head)
        return int(arcs[self.weights[arcs].argmin()]) if len(arcs) else None

    def arcs_between(self, tail: int, head: int) -> NDArray[np.int64]:
        """Find all arcs from one vertex to another, by their indices."""
        first, stop = (int(offset) for offset in self.offsets[tail : tail + 2])
        arcs: NDArray[np.int64] = first + (self.heads[first:stop] == head).nonzero()[0]
        return arcs

    @property
    def vertex_count(self) -> int:
        """The number of vertices, n."""
        return len(self.offsets) - 1

    @property
    def arc_count(self) -> int:
        """The number of arcs, m."""
        return len(self.heads)

    @property
    def numbering(self) -> Numbering:
        """Between indices and the file's ids."""
        library = "" if self.reading is None else self.reading.library
        return Numbering(self.vertex_count, self.first_id, self.ids, library)

    @property
    def geography(self) -> Geography:
        """Coordinates of the vertices, their credit, and the units."""
        return Geography(self.coordinates, self.attribution, self.units)

    @property
    def units(self) -> Units:
        """The units that are known, by names of columns; that of the weights by ""."""
        return units_of(self.column or title_of_weights(self.reading), self.attribution)

    @property
    def unit(self) -> str:
        """The unit of the weights, "" where it is not known."""
        return self.units.get("", "")

    @property
    def nbytes(self) -> int:
        """Bytes of the three arrays."""
        return self.offsets.nbytes + self.heads.nbytes + self.weights.nbytes

    def __repr__(self) -> str:
        return (
            f"Graph({self.name!r}, {self.vertex_count:,} vertices, {self.arc_count:,} arcs, "
            f"{self.weights.dtype} weights)"
        )


GraphLike = Any
"""A `Graph`, a path, a spec or name, a SciPy sparse array, a NetworkX graph, an edge table, or
(offsets, heads, weights)."""


def has_more(graph: Graph) -> bool:
    """Find out whether there are columns, shapes or ids of arcs."""
    return bool(graph.columns) or graph.shapes is not None or graph.arc_ids is not None


def of_arcs(graph: Graph, arcs: NDArray[Any], *, flips: bool = False) -> dict[str, Any]:
    """Weights, columns, shapes and ids of some arcs, as arguments of `Graph.changed`."""
    weights = graph.weights[arcs]
    return {
        "weights": weights,
        "columns": {
            name: weights if column is graph.weights else column[arcs]
            for name, column in graph.columns.items()
        },
        "shapes": None if graph.shapes is None else graph.shapes.of_arcs(arcs, flips=flips),
        "arc_ids": None if graph.arc_ids is None else graph.arc_ids[arcs],
    }


def no_column(name: object, there: Mapping[str, Any], graph: str) -> InputError:
    """The error for weights that a graph does not have by name."""
    if not there:
        return InputError(f"{quoted(graph)} has no columns by name; leave out column {quote(name)}")
    names = quoted(", ".join(there))
    return InputError(f"{quoted(graph)} has no column {quote(name)}; its weights are {names}")


def check_column(name: object, column: NDArray[Any], graph: Graph) -> None:
    """Raise `GraphError` for a column that cannot be the weights of a graph."""
    if not isinstance(name, str) or not 0 < len(name) <= LONGEST_TEXT or as_text(name) != name:
        raise GraphError(f"a column needs a name of 1 to {LONGEST_TEXT} characters in UTF-8")
    if column.dtype not in WEIGHT_TYPES or column.shape != (graph.arc_count,):
        raise GraphError(
            f"column {quote(name)} must be {graph.arc_count} weights, not {column.dtype} of shape "
            f"{column.shape}"
        )
    check_arcs(graph.heads[:0], column, graph.vertex_count, name=quote(name))
