"""Between the ids of a file, which users name vertices by, and indices from 0."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.errors import InputError, as_index, quote, quoted
from groute_py.graph.arrays import as_int64, host_array

INT64 = np.iinfo(np.int64)

SORTED_FROM = 32
"""Vertices from which it takes less to sort the ids than to look through them for each."""

NAMES_AT_ONCE = 1 << 16

COMPARED = 50_000
"""Names among which those like a wrong one are looked for: half a second."""

INTEGER = re.compile(r"[+-]?[0-9]{1,400}")


class Positions:
    """Vertices by their positions in the arrays of answers, from 0, in the place of ids.

    Functions and methods take them wherever they take ids.

    Args:
        values: integers of any shape.

    >>> from groute_py import graph_from_table, sssp
    >>> roads = graph_from_table({"tail": [7, 8], "head": [8, 9], "weight": [1, 2]})
    >>> sssp(roads, Positions(1), device="cpu").path_to(9)
    [8, 9]
    """

    def __init__(self, values: Any) -> None:
        self.values = integers(values, "position")

    def __repr__(self) -> str:
        return f"Positions({self.values.tolist()})"


def integers(values: Any, what: str) -> NDArray[np.int64]:
    """Integers as a user gives them, int64 in the same shape.

    Raises:
        InputError: they are no integers, or int64 does not hold one.
    """
    array = host_array(values)
    if array.dtype.kind not in "iu" and array.size:
        raise InputError(f"{what}s must be integers, not {array.dtype}")
    return as_int64(array, f"one of the {what}s").copy()


@dataclass(frozen=True, eq=False)
class Numbering:
    """The ids of ``count`` vertices: from ``first`` upwards, or int64 or str ``ids``."""

    count: int
    first: int = 0
    ids: NDArray[Any] | None = None
    library: str = ""  # of the table that the ids are from, see `groute_py.graph.read_report`

    def id_of(self, index: int) -> int | str:
        """The id of one vertex."""
        if self.ids is None:
            return index + self.first
        vertex_id: int | str = self.ids[index].item()
        return vertex_id

    def ids_of(self, indices: Sequence[int] | NDArray[Any]) -> NDArray[Any]:
        """The ids of many vertices, in the shape of `indices`."""
        if self.ids is not None:
            return np.asarray(self.ids[indices])
        return np.asarray(indices, np.int64) + self.first

    def index_of(self, vertex: Any, what: str = "vertex", graph: str = "the graph") -> int:
        """The index of the vertex with an id, given as it is or as text."""
        if isinstance(vertex, Positions):
            (place,) = self._checked(vertex.values.reshape(-1), what, graph).tolist()
            return int(place)
        if self.ids is None and type(vertex) is int and 0 <= vertex - self.first < self.count:
            return vertex - self.first
        one = np.empty(1, object)
        one[0] = vertex  # which may be a list, of which an error is to come
        return int(self.indices_of(one, what, graph)[0])

    def indices_of(
        self,
        vertices: Sequence[Any] | NDArray[Any] | Positions,
        what: str = "vertex",
        graph: str = "the graph",
    ) -> NDArray[np.int64]:
        """The indices of many vertices, int64 in their shape.

        The error of a wrong id calls it ``what``, names the graph, and shows the nearest ids.
        """
        if isinstance(vertices, Positions):
            return self._checked(vertices.values, what, graph)
        ids = self._as_ids(vertices, what)
        if self.ids is None:
            indices = ids - self.first if len(ids) else np.zeros(0, np.int64)
            right = (indices >= 0) & (indices < self.count)
        elif len(ids) < SORTED_FROM and "order" not in vars(self):
            at = [np.flatnonzero(self.ids == vertex)[:1] for vertex in ids]
            right = np.array([len(some) > 0 for some in at], np.bool_)
            indices = np.array([some[0] if len(some) else 0 for some in at], np.int64)
        elif self.count:
            places = np.searchsorted(self.ids, ids, sorter=self.order)
            indices = self.order[np.minimum(places, self.count - 1)]
            right = self.ids[indices] == ids
        else:
            indices, right = ids, np.zeros(len(ids), np.bool_)
        if not right.all():
            vertex = np.asarray(vertices, object).reshape(-1)[right.argmin()]
            raise InputError(
                f"{what} {quoted(vertex)} is not a vertex of {quoted(graph)}; vertices are {self}"
                f"{self._nearest(ids[right.argmin()])}"
            )
        return indices.astype(np.int64, copy=False).reshape(np.shape(vertices))

    @cached_property
    def order(self) -> NDArray[np.int64]:
        """Indices in the order of `ids`; all look-ups are quick once it is there."""
        assert self.ids is not None
        return np.argsort(self.ids)

    @property
    def is_usual(self) -> bool:
        """True if ids are positions."""
        return self.ids is None and self.first == 0

    def _checked(self, places: NDArray[np.int64], what: str, graph: str) -> NDArray[np.int64]:
        wrong = (places < 0) | (places >= self.count)
        if wrong.any():
            raise InputError(
                f"{what} at position {places[wrong][0]} is not a vertex of {quoted(graph)}; "
                f"positions are 0..{self.count - 1}"
            )
        return places

    def _as_ids(self, vertices: Sequence[Any] | NDArray[Any], what: str) -> NDArray[Any]:
        """Ids in the type of this graph's, one after the other; objects beyond int64."""
        each = np.asarray(vertices).reshape(-1)
        if self.ids is not None and self.ids.dtype.kind == "U":
            return np.array([_as_text(v, what) for v in each.tolist()], np.str_)
        if each.dtype.kind in "iu" and each.dtype != np.uint64:
            return each.astype(np.int64)
        numbers = [_as_integer(v, what) for v in each.tolist()]
        fits = all(INT64.min <= number <= INT64.max for number in numbers)
        return np.array(numbers, np.int64 if fits else object)

    def _nearest(self, vertex: Any) -> str:
        """The end of an error: the ids most like one that there is not."""
        if self.ids is None or not self.count:
            return ""
        if self.ids.dtype.kind == "U":
            near = get_close_matches(vertex, self.ids[:COMPARED].tolist())
        else:
            number = float(min(max(vertex, INT64.min), INT64.max))
            far = np.abs(self.ids.astype(np.float64) - number)
            near = self.ids[np.argsort(far, kind="stable")[:3]].tolist()
        return f"; nearest to it: {', '.join(map(quoted, near))}" if near else ""

    def __str__(self) -> str:
        if not self.count:
            return "none"
        if self.ids is None:
            return f"{self.first}..{self.first + self.count - 1}"
        some = ", ".join(map(quoted, self.ids[:3].tolist()))
        return some if self.count <= 3 else f"{some}, … ({self.count:,} in all)"


def _as_integer(vertex: Any, what: str) -> int:
    try:
        if not isinstance(vertex, str):
            return as_index(vertex)
        if INTEGER.fullmatch(vertex):
            return int(vertex)
    except TypeError:
        pass
    raise InputError(f"{what} {quote(vertex)} is no integer, but the graph's ids are")


def _as_text(vertex: Any, what: str) -> str:
    if isinstance(vertex, bool | np.bool_) or not isinstance(vertex, str | int | np.integer):
        raise InputError(f"{what} {quote(vertex)} is no id; ids are integers or strings")
    return str(vertex)


def check_given_ids(ids: NDArray[Any]) -> None:
    """Raise `ValueError` for ids from a file of which two are the same, or one is no text."""
    if ids.dtype.kind == "U":
        check_characters(ids)
    if ids.ndim != 1 or (ids[1:] > ids[:-1]).all():
        return
    ascending = np.sort(ids)
    repeated = np.flatnonzero(ascending[1:] == ascending[:-1])
    if len(repeated):
        raise ValueError(f"two vertices have the same id, {quoted(ascending[repeated[0]].item())}")


def check_characters(names: NDArray[np.str_]) -> None:
    """Raise `ValueError` for names with a null, half a character, or one beyond Unicode."""
    if names.dtype != names.dtype.newbyteorder("="):
        raise ValueError("its names are of another byte order")
    width = names.dtype.itemsize // 4
    for start in range(0, len(names) if width else 0, NAMES_AT_ONCE):
        part = np.ascontiguousarray(names[start : start + NAMES_AT_ONCE])
        codes = part.view(np.uint32).reshape(len(part), width)
        wrong = (codes > sys.maxunicode) | ((codes >= 0xD800) & (codes < 0xE000))
        if wrong.any():
            vertex = start + int(wrong.argmax()) // width
            raise ValueError(f"the name of vertex {vertex} has what is no character of Unicode")
        within = (codes[:, :-1] == 0) & (codes[:, 1:] != 0)  # zeros at the end are padding
        if within.any():
            vertex = start + int(within.any(axis=1).argmax())
            raise ValueError(f"the name of vertex {vertex} has a null character")


def fits_table(span: int, count: int) -> bool:
    """Find out whether a table of a whole span is not much larger than `count` ids of it."""
    return span < 8 * count + 1024


def numbered(
    tails: NDArray[Any], heads: NDArray[Any], more: NDArray[Any] | None = None
) -> tuple[int, NDArray[Any] | None, int, NDArray[Any], NDArray[Any]]:
    """Indices for ids, int64 or strings: ascending; integers that count upwards need no table.

    Returns the least id, the table or None, the number of vertices, and both ends as indices.
    ``more`` are ids of vertices that may have no arcs. With a table of names the least id is 0.
    """
    if tails.dtype.kind == "U":
        names = [tails, heads] if more is None else [tails, heads, more]
        table, places = np.unique(np.concatenate(names), return_inverse=True)
        count = len(tails)
        return 0, table, len(table), places[:count], places[count : 2 * count]
    columns = [ids for ids in (tails, heads, more) if ids is not None and len(ids)]
    if not columns:
        return 0, None, 0, tails, heads
    low, high = min([int(ids.min()) for ids in columns]), max([int(ids.max()) for ids in columns])
    if low < 0 or high > np.iinfo(np.int32).max:  # differences may not fit in 32 bits
        tails, heads = tails.astype(np.int64, copy=False), heads.astype(np.int64, copy=False)
    if fits_table(high - low, sum(map(len, columns))):
        seen = np.zeros(high - low + 1, np.bool_)
        for ids in columns:
            seen[ids.astype(np.int64) - low] = True
        if seen.all():
            return low, None, len(seen), tails - low, heads - low
        table = np.flatnonzero(seen) + low
        place = np.cumsum(seen) - 1
        return low, table, len(table), place[tails - low], place[heads - low]
    table = np.unique(np.concatenate([ids.astype(np.int64) for ids in columns]))
    return low, table, len(table), np.searchsorted(table, tails), np.searchsorted(table, heads)
