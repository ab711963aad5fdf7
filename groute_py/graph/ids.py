"""Between the ids of a file, which users name vertices by, and indices from 0."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.arguments import as_index
from groute_py.errors import InputError, quote, quoted

INT64 = np.iinfo(np.int64)

SORTED_FROM = 32
"""Vertices from which it takes less to sort the ids than to look through them for each."""

NAMES_AT_ONCE = 1 << 16

INTEGER = re.compile(r"[+-]?[0-9]{1,400}")


@dataclass(frozen=True, eq=False)
class Numbering:
    """The ids of ``count`` vertices: from ``first`` upwards, or int64 or str ``ids``."""

    count: int
    first: int = 0
    ids: NDArray[Any] | None = None

    def id_of(self, index: int) -> int | str:
        """The id of one vertex."""
        if self.ids is None:
            return index + self.first
        found: int | str = self.ids[index].item()
        return found

    def ids_of(self, indices: NDArray[Any]) -> NDArray[Any]:
        """The ids of many vertices, in the shape of `indices`."""
        if self.ids is not None:
            return np.asarray(self.ids[indices])
        return indices.astype(np.int64, copy=False) + self.first

    def index_of(self, vertex: int | str, what: str = "vertex", graph: str = "the graph") -> int:
        """The index of the vertex with an id, given as it is or as text."""
        if self.ids is not None and self.ids.dtype.kind == "U":
            found = np.flatnonzero(self.ids == str(vertex))
        else:
            found = self._index_of_number(_as_integer(vertex, what))
        if not len(found):
            raise InputError(
                f"{what} {quoted(vertex)} is not a vertex of {quoted(graph)}; vertices are {self}"
            )
        return int(found[0])

    def indices_of(
        self, vertices: Sequence[int | str], what: str = "vertex", graph: str = "the graph"
    ) -> NDArray[np.int64]:
        """The indices of many vertices, int64, shape (k,)."""
        few = len(vertices) < SORTED_FROM
        if self.ids is None or few or not self.count:
            found = [self.index_of(vertex, what, graph) for vertex in vertices]
            return np.array(found, np.int64)
        order = np.argsort(self.ids)
        if self.ids.dtype.kind == "U":
            wanted = np.array([str(vertex) for vertex in vertices])
        else:
            numbers = [_as_integer(vertex, what) for vertex in vertices]
            for vertex, number in zip(vertices, numbers, strict=True):
                if not INT64.min <= number <= INT64.max:
                    self.index_of(vertex, what, graph)  # which says that there is none
            wanted = np.array(numbers, np.int64)
        places = np.searchsorted(self.ids, wanted, sorter=order)
        indices: NDArray[np.int64] = order[np.minimum(places, self.count - 1)]
        for place in np.flatnonzero(self.ids[indices] != wanted).tolist():
            self.index_of(vertices[place], what, graph)
        return indices

    def _index_of_number(self, number: int) -> Any:
        if self.ids is None:
            return [number - self.first] if 0 <= number - self.first < self.count else []
        return np.flatnonzero(self.ids == number)

    def __str__(self) -> str:
        if self.ids is None:
            return f"{self.first}..{self.first + self.count - 1}"
        some = ", ".join(map(quoted, self.ids[:3].tolist()))
        return some if self.count <= 3 else f"{some}, … ({self.count:,} in all)"


def _as_integer(vertex: int | str, what: str) -> int:
    try:
        if not isinstance(vertex, str):
            return as_index(vertex)
        if INTEGER.fullmatch(vertex):
            return int(vertex)
    except TypeError:
        pass
    raise InputError(f"{what} {quote(vertex)} is no integer, but the graph's ids are")


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
    tails: NDArray[Any], heads: NDArray[Any], more: NDArray[np.int64] | None = None
) -> tuple[int, NDArray[np.int64] | None, int, NDArray[Any], NDArray[Any]]:
    """Indices for integer ids: ascending, and those that count upwards need no table.

    Returns the least id, the table or None, the number of vertices, and both ends as indices.
    ``more`` are ids of vertices that may have no arcs.
    """
    known = [ids for ids in (tails, heads, more) if ids is not None and len(ids)]
    if not known:
        return 0, None, 0, tails, heads
    low, high = min(int(ids.min()) for ids in known), max(int(ids.max()) for ids in known)
    if low < 0 or high > np.iinfo(np.int32).max:  # differences may not fit in 32 bits
        tails, heads = tails.astype(np.int64, copy=False), heads.astype(np.int64, copy=False)
    if fits_table(high - low, sum(map(len, known))):
        seen = np.zeros(high - low + 1, np.bool_)
        for ids in known:
            seen[ids.astype(np.int64) - low] = True
        if seen.all():
            return low, None, len(seen), tails - low, heads - low
        table = np.flatnonzero(seen) + low
        place = np.cumsum(seen) - 1
        return low, table, len(table), place[tails - low], place[heads - low]
    table = np.unique(np.concatenate([ids.astype(np.int64) for ids in known]))
    return low, table, len(table), np.searchsorted(table, tails), np.searchsorted(table, heads)


class Lookup:
    """Finds vertices by their ids, of one graph any number of times."""

    def __init__(self, numbering: Numbering, graph: str) -> None:
        self._numbering, self._graph = numbering, graph
        self._order: NDArray[np.int64] | None = None

    def index_of(self, vertex: int | str, what: str) -> int:
        """The index of a vertex; errors are those of `Numbering.index_of`."""
        ids = self._numbering.ids
        if isinstance(vertex, bool) or not isinstance(vertex, int | str):
            raise InputError(f"{what} {quote(vertex)} is no id; ids are integers or strings")
        if ids is None or not len(ids):
            return self._numbering.index_of(vertex, what, self._graph)
        if self._order is None:
            self._order = np.argsort(ids)
        wanted = str(vertex) if ids.dtype.kind == "U" else _as_integer(vertex, what)
        if isinstance(wanted, int) and not INT64.min <= wanted <= INT64.max:
            return self._numbering.index_of(vertex, what, self._graph)
        place = int(np.searchsorted(ids, wanted, sorter=self._order))
        index = int(self._order[min(place, len(ids) - 1)])
        if ids[index] != wanted:
            return self._numbering.index_of(vertex, what, self._graph)  # which raises
        return index
