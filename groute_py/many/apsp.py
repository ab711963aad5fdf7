"""Many sources over all ranks: each has the whole graph and takes an even part of the sources.

`groute_py.many.delivery` solves from them, and brings the rows where they are wanted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from groute_py.comm.agree import on_root
from groute_py.comm.base import Channel
from groute_py.device.base import bound_within, unreached
from groute_py.device.rows import RowBlock
from groute_py.engine.algorithms.numbers import rounding_of
from groute_py.engine.options import Options
from groute_py.errors import InputError, quoted
from groute_py.graph.csr import Graph
from groute_py.graph.facts import Facts, facts_of
from groute_py.graph.hierarchy.prepared import hierarchy_of
from groute_py.graph.turns.expanded import Layout
from groute_py.many.choose import Choice, choose
from groute_py.many.labels import LABELS, LabelRows
from groute_py.many.row_graph import RowGraph
from groute_py.many.rows import SourceRows
from groute_py.many.solve import Solving
from groute_py.many.sources import checked
from groute_py.many.storage.folder import run_of
from groute_py.results.answer import about
from groute_py.results.distances import public_distances, public_type, reached_in

Spans = list[tuple[int, int] | None]
"""By rank, the first of its part of the sources that a block is of, and how many; None if none."""


class Ends(NamedTuple):
    """The vertices between which a job's distances are; None for all vertices."""

    sources: NDArray[np.int64] | None
    targets: NDArray[np.int64] | None = None
    parts: int = 1  # into which sources are split among runs, of which this is one


@dataclass(frozen=True, eq=False)
class ManySources:
    """Many sources of one graph, on every rank."""

    row_graph: RowGraph  # in host memory
    options: Options
    sources: NDArray[np.int64]  # (k,)
    targets: NDArray[np.int64] | None  # (t,), whose columns are wanted; None for all vertices
    choice: Choice
    height: NDArray[Any] | None  # Johnson's potentials where weights may be negative
    by_state: bool = False  # whole rows have a column for each state of an expansion by turns
    on_gpu: bool = False  # whole rows may stay on the GPU of the only rank

    @property
    def graph(self) -> Graph:
        """The graph as it is solved."""
        return self.row_graph.graph

    @property
    def layout(self) -> Layout:
        """The layout of the vertices in ``graph``, which turns may have expanded."""
        return self.row_graph.layout

    @property
    def facts(self) -> Facts:
        """The facts of the graph without the expansion by turns."""
        return self.layout.facts(facts_of(self.graph))

    @property
    def begins(self) -> NDArray[np.int64]:
        """The states where the rows begin."""
        return self.layout.begins(self.sources)

    @property
    def columns(self) -> NDArray[np.int64] | None:
        """The states whose columns of the rows are wanted, shape (width,); None for all."""
        if self.options.carry:
            return None  # as sums need whole trees
        if self.targets is not None:
            return self.layout.ends(self.targets)
        return self.layout.all_ends() if self.layout.is_expanded and not self.by_state else None

    @property
    def width(self) -> int:
        """Entries of a row."""
        if self.targets is not None:
            return len(self.targets)
        return self.graph.vertex_count if self.by_state else self.layout.vertex_count

    @property
    def sums(self) -> tuple[str, ...]:
        """The names of what is summed along paths."""
        scale = self.graph.scale
        return (*self.options.carry, *(() if scale is None else scale.sums))

    @property
    def type(self) -> np.dtype[Any]:
        """The type of distances as users get them."""
        if self.graph.scale is not None:
            return self.graph.scale.type
        return public_type(self.graph.weights.dtype)

    def solving(self, channel: Channel) -> Solving:
        """Return the solver of the method, which may be in place already."""
        return self.row_graph.solving(self.height, self.options, self.choice, channel)

    def rows(self, channel: Channel) -> Solving | LabelRows:
        """Return what gives blocks of rows: labels, or `solving`."""
        if self.choice.algorithm == LABELS:
            return LabelRows(self.row_graph.labels.customized, self.choice.device)
        return self.solving(channel)

    def finished(self, block: RowBlock) -> RowBlock:
        """Return what is wanted of a block: sums along paths, and nothing beyond a cutoff."""
        if self.options.carry:
            block = self._with_sums(block)
        block = self._within_cutoff(block)
        if (scale := self.graph.scale) is None:
            return block
        distances = public_distances(block.distances)
        carried = {**block.carried, **scale.all_sums(distances)}
        return replace(block, distances=scale.values(distances), carried=carried)

    def _within_cutoff(self, block: RowBlock) -> RowBlock:
        if (cutoff := self.options.bound) is None or block.cutoff <= cutoff:
            return block
        near = block.distances <= bound_within(cutoff, block.distances.dtype)

        def cut(rows: NDArray[Any]) -> NDArray[Any]:
            return np.where(near, rows, unreached(rows.dtype))

        parents = block.predecessors
        parents = None if parents is None else np.where(near, parents, np.int32(-1))
        carried = {name: cut(sums) for name, sums in block.carried.items()}
        return RowBlock(block.first, cut(block.distances), parents, carried, cutoff)

    def _with_sums(self, block: RowBlock) -> RowBlock:
        carrier, targets = self.row_graph.carrier(self.options.carry), self.targets
        assert targets is not None
        assert block.predecessors is not None
        reached = reached_in(public_distances(block.distances))
        trees = zip(block.predecessors, reached, strict=True)
        sums = [carrier.along_tree(*tree, targets) for tree in trees]
        carried = {name: np.stack([row[name] for row in sums]) for name in self.options.carry}
        rows = block.distances[:, targets], block.predecessors[:, targets]
        return RowBlock(block.first, *rows, carried, block.cutoff)

    def part(self, numbers: NDArray[np.int64], rank: int, ranks: int) -> NDArray[np.int64]:
        """Return those of some numbers whose sources a rank solves for.

        In turn; those whose rows of one matrix it has; or as many as the others one after the
        other, where all sources take equally long, so that a rank's rows lie together in a file.
        """
        if self.choice.algorithm == "floyd" and ranks > 1:
            from groute_py.device.cuda.multi_source.floyd.ranks import owner_of

            owners = owner_of(self.begins[numbers], self.graph.vertex_count, ranks)
            part: NDArray[np.int64] = numbers[owners == rank]
            return part
        if self.choice.algorithm in ("sweep", LABELS):
            return np.array_split(numbers, ranks)[rank]
        return numbers[rank::ranks]

    def parts(self, numbers: NDArray[np.int64], spans: Spans) -> Iterator[NDArray[np.int64]]:
        """Yield the numbers of each rank's block, in the order of the ranks that have one."""
        for rank, block in enumerate(spans):
            if block is not None:
                yield self.part(numbers, rank, len(spans))[block[0] : sum(block)]

    def answer(
        self, distances: NDArray[Any], parents: NDArray[np.int32] | None, label: str
    ) -> SourceRows:
        """Return the answer from rows that were solved on what ``label`` says."""
        whole, statistics = self.row_graph, self.statistics(label)
        rows = self.sources, distances, parents, bool(whole.direction.value)
        return SourceRows(*rows, statistics=statistics, **about(whole))

    def statistics(self, label: str) -> dict[str, Any]:
        """Return the method and why, and what the rows were solved on."""
        algorithm, reason = self.choice.algorithm, self.choice.reason
        return {"algorithm": algorithm, "reason": reason, "device": label}

    def run(self, **choices: Any) -> dict[str, Any]:
        """Return the record of a run that saves what these rows give; see `run_of`."""
        if self.graph.weights.dtype.kind == "f":
            choices["rounding of sums"] = rounding_of(self.choice.algorithm)
        if self.options.bound is not None:
            choices["cutoff"] = self.options.bound
        if self.graph.scale is not None:
            choices["objective"] = self.options.objective
        ends = {"sources": self.sources}
        if self.targets is not None:
            ends["targets"] = self.targets
        return run_of(self.row_graph.digest, ends, choices)


def prepare(
    channel: Channel,
    whole: RowGraph,
    ends: Callable[[], Ends],
    options: Options,
    destination: str = "nowhere",
    why: str = "",
) -> ManySources:
    """Choose the method for rows of a graph that every rank has. Collective.

    Rank 0 calls ``ends``, chooses, and has ``why``: the reason for the graph's hierarchy, or
    against one. ``destination`` is that of whole rows, a key of `DELIVERY_RATE`.
    """
    no_matrix = whole.no_matrix(channel, options)

    def plan() -> tuple[Any, ...]:
        all_sources, all_targets, parts = ends()
        sources, targets = _checked(whole, all_sources, all_targets)
        count = -(-len(sources) // parts)
        choice = choose(
            *(options, whole.facts, count, channel.size, no_matrix),
            prepared=hierarchy_of(whole.graph) is not None,
            resident=whole.resident(options),
            destination=destination,
        )
        height = whole.heights(options, whole.layout.begins(sources))
        return count, sources, targets, choice, height

    count, *plans = on_root(channel, plan)
    many = ManySources(whole, options, *plans)
    choice, targets = many.choice, many.targets
    is_whole = destination in ("memory", "file") and options.bound is None
    if not options.predecessors and (targets is not None or is_whole):
        request = ("rows", count) if targets is None else ("matrix", count * len(targets))
        choice = whole.labels.prefer(channel, whole.graph, whole.facts, options, choice, request)
    if why and choice.algorithm != LABELS:
        choice = replace(choice, reason=f"{choice.reason}; {why}")
    return replace(many, choice=choice)


def _checked(
    whole: RowGraph, sources: NDArray[np.int64] | None, targets: NDArray[np.int64] | None
) -> tuple[NDArray[np.int64], NDArray[np.int64] | None]:
    """Return the ends of a job, all of which are vertices."""
    name, vertices = whole.facts.name, whole.layout.vertex_count
    if vertices == 0:
        raise InputError(f"{quoted(name)} has no vertices, so there is no source")
    every = np.arange(vertices) if sources is None else sources.astype(np.int64, copy=False)
    if targets is not None:
        targets = checked(targets, vertices, name, "target")
    return checked(every, vertices, name), targets
