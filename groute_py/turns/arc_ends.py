"""Turns between arcs, which rows name by numbers or by the ids of the table of roads."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.errors import InputError, quote, quoted
from groute_py.graph.csr import Graph
from groute_py.graph.ids import Numbering
from groute_py.system.memory_limits import check_room
from groute_py.turns.ends import ArcKeys, Listed, ProblemIn, tails_of

INTEGER = re.compile(r"[+-]?[0-9]{1,19}")
INT64 = np.iinfo(np.int64)
PAIR_BYTES = 96
"""Size of two arcs of a row, while they are brought together."""


@dataclass(frozen=True)
class ArcEnds:
    """Two arcs for each row, shape (k,) each.

    A row is of all arcs of its first id that end where an arc of its second one begins.

    Attributes:
        first, second: ids, or numbers of arcs.
        title: of the ids, in the table of roads; None for numbers.
    """

    first: list[Any]
    second: list[Any]
    title: str | None = None

    def listed(self, graph: Graph, numbering: Numbering, problem_in: ProblemIn) -> Listed:
        ids = np.arange(graph.arc_count) if self.title is None else self._ids(graph)
        ends = [
            self._known_ids(column, ids, graph, problem_in) for column in (self.first, self.second)
        ]
        rows, before, behind = _joined(graph, ids, *ends)
        missed = np.setdiff1d(np.arange(len(self.first)), rows)
        if len(missed):
            row = int(missed[0])
            one, other = quoted(self.first[row]), quoted(self.second[row])
            name = self.title or "arc"
            problem = f"no {name} {other} of {quoted(graph.name)} begins where {name} {one} ends"
            raise problem_in(row, problem)
        tails, vias = tails_of(graph, before), graph.heads[before].astype(np.int64)
        heads = graph.heads[behind].astype(np.int64)
        return Listed(tails, vias, heads, before, behind, rows, ArcKeys(graph))

    def _ids(self, graph: Graph) -> NDArray[Any]:
        if graph.arc_ids is None:
            raise InputError(
                f"turns are listed by {quoted(self.title)}, but {quoted(graph.name)} was not "
                "read with ids of arcs; give the path of its table, or list turns by tail,via,head"
            )
        return graph.arc_ids

    def _known_ids(
        self, given: list[Any], ids: NDArray[Any], graph: Graph, problem_in: ProblemIn
    ) -> NDArray[Any]:
        """Ids in the type of ``ids``, each of which is there."""
        kind = str if ids.dtype.kind == "U" else int
        found = [_id_as(kind, entry) for entry in given]
        known = np.isin(np.array([0 if e is None else e for e in found], ids.dtype.type), ids)
        known &= np.array([entry is not None for entry in found], np.bool_)
        if not known.all():
            row = int(np.argmin(known))
            name = self.title or "number"
            problem = f"{quote(given[row])} is no {name} of an arc of {quoted(graph.name)}"
            raise problem_in(row, problem)
        return np.array(found, ids.dtype.type)


def _id_as(kind: type[str] | type[int], given: Any) -> str | int | None:
    """An id as the table has them; None for what is none."""
    text = str(given)
    if kind is str:
        return text
    if isinstance(given, bool) or INTEGER.fullmatch(text) is None:
        return None
    return int(text) if INT64.min <= int(text) <= INT64.max else None


def _joined(
    graph: Graph, ids: NDArray[Any], first: NDArray[Any], second: NDArray[Any]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """The row of each turn of named arcs, the arc before it and the arc behind it."""
    every, of_arcs = np.unique(ids, return_inverse=True)
    by_id = np.argsort(of_arcs, kind="stable")
    rows, at = _spans(of_arcs[by_id], np.searchsorted(every, first), graph.name)
    before = by_id[at]
    # arcs by their ids, and those of one id by their tails
    keys = of_arcs * graph.vertex_count + tails_of(graph, np.arange(graph.arc_count))
    by_key = np.argsort(keys, kind="stable")
    wanted = np.searchsorted(every, second)[rows] * graph.vertex_count + graph.heads[before]
    which, at = _spans(keys[by_key], wanted, graph.name)
    return rows[which], before[which], by_key[at]


def _spans(
    ascending: NDArray[np.int64], keys: NDArray[np.int64], name: str
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Find each key among ascending ones: the key's number for each place, and places."""
    firsts = np.searchsorted(ascending, keys)
    counts = np.searchsorted(ascending, keys, side="right") - firsts
    check_room(PAIR_BYTES * int(counts.sum()), f"{name} with turns")
    which = np.repeat(np.arange(len(keys)), counts)
    within = np.arange(len(which)) - np.repeat(np.cumsum(counts) - counts, counts)
    return which, firsts[which] + within
