"""Turns as rows name them: by three vertices, or by two arcs."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from groute_py.errors import InputError, quote, quoted
from groute_py.graph.csr import Graph
from groute_py.graph.ids import Numbering
from groute_py.graph.tails import ranges, tails_of
from groute_py.system.memory_limits import check_room

ROLES = ("tail", "via", "head")
"""The vertices of a turn, from an arc (tail, via) to an arc (via, head)."""

INTEGER = re.compile(r"[+-]?[0-9]{1,19}")
INT64 = np.iinfo(np.int64)

PAIR_BYTES = 96
"""Size of two arcs of a row, while they are brought together."""

Indices = NDArray[np.int64]

ProblemIn = Callable[[int, str], InputError]
"""Makes the error for a row of a table, counted from 0, and what is wrong there."""


class Keys(NamedTuple):
    """Numbers of the arcs before and behind a via, below ``span``; those of one are alike.

    They are those of arcs, or else of their other ends, so that parallel arcs are one.
    """

    graph: Graph
    by_arc: bool

    @property
    def span(self) -> int:
        return self.graph.arc_count if self.by_arc else self.graph.vertex_count

    def into(self, arcs: Indices) -> Indices:
        """The numbers of arcs that a turn comes from, shape (k,)."""
        return arcs if self.by_arc else tails_of(self.graph.offsets, arcs)

    def out_of(self, arcs: Indices) -> Indices:
        """The numbers of arcs that a turn leads to, shape (k,)."""
        return arcs if self.by_arc else self.graph.heads[arcs].astype(np.int64)


class Turns(NamedTuple):
    """Turns of a graph; all arrays have the shape (t,)."""

    tails: Indices
    vias: Indices
    heads: Indices
    before: Indices  # what the turn comes from, as `Keys` number it
    behind: Indices  # what it leads to
    rows: Indices  # of the table, from 0

    def some(self, which: Indices) -> Turns:
        """The turns of some numbers."""
        return Turns(*(column[which] for column in self))


@dataclass(frozen=True)
class VertexEnds:
    """The ids of three vertices for each row, shape (k,) each."""

    tails: list[Any]
    vias: list[Any]
    heads: list[Any]

    def turns(
        self, graph: Graph, numbering: Numbering, problem_in: ProblemIn
    ) -> tuple[Turns, Keys]:
        """The turns that rows are, in their order."""
        columns = zip(ROLES, (self.tails, self.vias, self.heads), strict=True)
        tails, vias, heads = (
            _indices(ids, role, graph.name, numbering, problem_in) for role, ids in columns
        )
        rows = np.arange(len(tails))
        return Turns(tails, vias, heads, tails, heads, rows), Keys(graph, by_arc=False)


def _indices(
    ids: list[Any], role: str, graph: str, numbering: Numbering, problem_in: ProblemIn
) -> Indices:
    try:
        return numbering.indices_of(ids, role, graph)
    except InputError:
        for row, vertex in enumerate(ids):
            try:
                numbering.index_of(vertex, role, graph)
            except InputError as problem:
                raise problem_in(row, str(problem)) from None
        raise


@dataclass(frozen=True)
class ArcEnds:
    """Two arcs for each row, shape (k,) each, by numbers, or by ids if these have a title.

    A row is of all arcs of its first id that end where an arc of its second one begins.
    """

    first: list[Any]
    second: list[Any]
    title: str | None = None

    def turns(
        self, graph: Graph, numbering: Numbering, problem_in: ProblemIn
    ) -> tuple[Turns, Keys]:
        """The turns that rows are, in their order."""
        ids = np.arange(graph.arc_count) if self.title is None else self._ids(graph)
        ends = [
            self._as_ids(column, ids, graph, problem_in) for column in (self.first, self.second)
        ]
        rows, before, behind = _joined(graph, ids, *ends)
        missed = np.setdiff1d(np.arange(len(self.first)), rows)
        if len(missed):
            row = int(missed[0])
            one, other = quoted(self.first[row]), quoted(self.second[row])
            name = self.title or "arc"
            problem = f"no {name} {other} of {quoted(graph.name)} begins where {name} {one} ends"
            raise problem_in(row, problem)
        vias, heads = (graph.heads[arcs].astype(np.int64) for arcs in (before, behind))
        turns = Turns(tails_of(graph.offsets, before), vias, heads, before, behind, rows)
        return turns, Keys(graph, by_arc=True)

    def _ids(self, graph: Graph) -> NDArray[Any]:
        if graph.arc_ids is None:
            raise InputError(
                f"turns are listed by {quoted(self.title)}, but {quoted(graph.name)} was not "
                "read with ids of arcs; give the path of its table, or list turns by tail,via,head"
            )
        return graph.arc_ids

    def _as_ids(
        self, words: list[Any], ids: NDArray[Any], graph: Graph, problem_in: ProblemIn
    ) -> NDArray[Any]:
        """Ids in the type of ``ids``, each of which is there."""
        kind = str if ids.dtype.kind == "U" else int
        values = [_id_as(kind, word) for word in words]
        are_there = np.isin(np.array([0 if v is None else v for v in values], ids.dtype.type), ids)
        are_there &= np.array([value is not None for value in values], np.bool_)
        if not are_there.all():
            row = int(np.argmin(are_there))
            name = self.title or "number"
            problem = f"{quote(words[row])} is no {name} of an arc of {quoted(graph.name)}"
            raise problem_in(row, problem)
        return np.array(values, ids.dtype.type)


TurnEnds = VertexEnds | ArcEnds
"""The columns of a table beside the costs."""


def _id_as(kind: type[str] | type[int], word: Any) -> str | int | None:
    """An id as the table has them; None for what is none."""
    text = str(word)
    if kind is str:
        return text
    if isinstance(word, bool) or INTEGER.fullmatch(text) is None:
        return None
    return int(text) if INT64.min <= int(text) <= INT64.max else None


def _joined(
    graph: Graph, ids: NDArray[Any], first: NDArray[Any], second: NDArray[Any]
) -> tuple[Indices, Indices, Indices]:
    """The row of each turn of named arcs, the arc before it and the arc behind it."""
    every, of_arcs = np.unique(ids, return_inverse=True)
    by_id = np.argsort(of_arcs, kind="stable")
    rows, at = _spans(of_arcs[by_id], np.searchsorted(every, first), graph.name)
    before = by_id[at]
    # arcs by their ids, and those of one id by their tails
    keys = of_arcs * graph.vertex_count + graph.tails()
    by_key = np.argsort(keys, kind="stable")
    next_keys = np.searchsorted(every, second)[rows] * graph.vertex_count + graph.heads[before]
    which, at = _spans(keys[by_key], next_keys, graph.name)
    return rows[which], before[which], by_key[at]


def _spans(ascending: Indices, keys: Indices, name: str) -> tuple[Indices, Indices]:
    """Find each key among ascending ones: the key's number for each place, and places."""
    firsts = np.searchsorted(ascending, keys)
    counts = np.searchsorted(ascending, keys, side="right") - firsts
    check_room(PAIR_BYTES * int(counts.sum()), f"{name} with turns")
    return ranges(firsts, counts)
