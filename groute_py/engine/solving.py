"""One solve of a loaded graph: relax until all ranks are quiet, then assign predecessors."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from groute_py.comm.base import Channel
from groute_py.device.base import NO_PARENT, alike, unreached
from groute_py.device.rows import leads_beyond
from groute_py.engine import fused
from groute_py.engine.fused import Together
from groute_py.engine.loading import LoadedGraph
from groute_py.engine.loop import Claiming, Pace, Relaxing, counts_of, run
from groute_py.engine.negative_cycle import ChangeWatch, CycleWatch, SinkingError
from groute_py.engine.planning import LEAD_BUCKETS
from groute_py.engine.statistics import Stopwatch
from groute_py.engine.tree_solve import TreeSolver
from groute_py.errors import RunError, everywhere, quoted
from groute_py.graph.arrays import host_array
from groute_py.graph.facts import Facts
from groute_py.partition.share import Share
from groute_py.system.clock import count


class Query(NamedTuple):
    """One solve, as this rank has it."""

    source: int | None  # its local number; None if another rank owns it
    targets: NDArray[np.int64] | None  # its own, in local numbers; None to solve for all vertices
    deadline: float  # `time.monotonic` at which to give up
    cutoff: float = math.inf  # distances beyond it are not wanted; the same on every rank
    finds_tree: bool = True  # predecessors are wanted where the options have them; likewise


class Outcome(NamedTuple):
    """Votes taken, and the bound up to which distances are final; the same on every rank."""

    votes: int
    bound: float = math.inf


class SourceSolving:
    """Solves on a loaded graph; it is loaded again where distances need a wider type."""

    def __init__(self, graph: LoadedGraph) -> None:
        self._graph = graph
        self._trees: TreeSolver | None = None

    def solve(self, query: Query, watch: Stopwatch) -> Outcome:
        """Leave the answer on the devices; collective.

        Float distances may sink by rounding, or their tight arcs may not form a whole tree. Then
        this solve and all later ones keep a tree on rank 0.
        """
        outcome, sure = Outcome(0), False
        if self._trees is None:
            outcome, sure = self._solve_on_devices(query, watch)
        if not sure:
            with watch.phase("solve"):
                self._keep_a_tree(query)
        return outcome

    def _solve_on_devices(self, query: Query, watch: Stopwatch) -> tuple[Outcome, bool]:
        """Solve like `solve`; the second value: whether the devices have an answer that is sure."""
        graph, outcome = self._graph, Outcome(0)
        try:
            with watch.phase("solve"):
                outcome = self._relax(query)
            if graph.mode.whole is not None:
                graph.mode.whole.count()  # not sooner: all ranks wait for the answer
                for counter, value in counts_of(graph.device).items():
                    count(counter, value)
            finds_tree = query.finds_tree and graph.plan.options.predecessors
            if finds_tree or graph.plan.may_sink:
                with watch.phase("predecessors"):
                    claiming = self._claim(query.deadline)
                outcome = outcome._replace(votes=outcome.votes + claiming)
        except SinkingError:
            return outcome, False
        if not graph.plan.may_sink:
            return outcome, True
        return outcome, all(graph.channel.gather(self._is_whole(query.source)))

    def _relax(self, query: Query) -> Outcome:
        """Solve in the narrowest distance type that holds every sum."""
        graph = self._graph
        if graph.plan.facts.has_negative:
            query = query._replace(targets=None)  # no distance is final before the end
        votes = 0
        while True:
            outcome, overflowed = self._relax_in_one_type(query)
            votes += outcome.votes
            # a sum that does not fit lies beyond the bound
            if not overflowed or math.isfinite(outcome.bound) or len(graph.types) == 1:
                return Outcome(votes, outcome.bound)
            graph.load(graph.types[1:])

    def _relax_in_one_type(self, query: Query) -> tuple[Outcome, bool]:
        """Relax until all ranks are quiet; the second value: whether a sum overflowed."""
        graph, plan, channel = self._graph, self._graph.plan, self._graph.channel
        targets = query.targets is not None
        buckets = plan.buckets(graph.distance_type, together=graph.together, targets=targets)
        record = query.finds_tree and plan.records(together=graph.together)
        pace = Pace(plan.lead(targets=targets), query.deadline)
        task, watch = self._task(query), self._watch()
        graph.device.start(query.source, buckets, query.cutoff, record=record)
        votes = 0
        if graph.mode.whole is not None:
            overflowed = fused.run(graph.mode.whole, channel, pace)
        else:
            votes = run(task, channel, pace, watch, graph.mode.team)
            overflowed = any(channel.gather(graph.device.counters.overflowed))
        bound = math.inf
        if targets:
            bound = max(channel.gather(task.farthest()))
            graph.device.forget_beyond(bound)
        may_matter = math.isinf(bound) or plan.facts.operator is not None
        if overflowed and len(graph.types) == 1 and may_matter:
            if isinstance(watch, CycleWatch):
                watch.look()  # distances on a heavy cycle may leave the range before a check
            refuse_overflow(channel, graph.cut.share, graph.device.distances(), plan.facts)
        return Outcome(votes, bound), overflowed

    def _task(self, query: Query) -> Relaxing:
        """Return the task for the loop: relaxing by this rank, or with its team."""
        device, mode = self._graph.device, self._graph.mode
        width = self._graph.plan.stride(targets=query.targets is not None)
        if mode.linked is None or mode.team is None:
            return Relaxing(device, query.targets, width)
        pace = Pace(LEAD_BUCKETS, query.deadline)
        own = (device, query.targets, width)
        return Together(*own, linked=mode.linked, team=mode.team, pace=pace)

    def _watch(self) -> CycleWatch | ChangeWatch:
        graph = self._graph
        if not graph.plan.facts.has_negative:
            return ChangeWatch(graph.channel, graph.plan.facts, graph.device.distances)
        cut = (graph.cut.share, graph.cut.order, graph.numbering)
        return CycleWatch(graph.channel, *cut, graph.plan.facts, graph.device.distances)

    def _claim(self, deadline: float) -> int:
        device = self._graph.device
        if device.start_claims(not self._graph.plan.facts.has_negative):
            return 0
        return run(Claiming(device), self._graph.channel, Pace(deadline=deadline))

    def _is_whole(self, source: int | None) -> bool:
        """Return whether all reached vertices but the source, at 0, have predecessors."""
        distances: NDArray[Any] = self._graph.device.distances()
        rooted = self._graph.device.predecessors() != NO_PARENT
        if source is not None:
            rooted[source] = distances[source] == 0
        return bool(np.array_equal(rooted, np.isfinite(distances)))

    def _keep_a_tree(self, query: Query) -> None:
        """Give the devices the answer of a solve that keeps a tree."""
        graph = self._graph
        if self._trees is None:
            cut = (graph.cut.share, graph.cut.order, graph.numbering)
            self._trees = TreeSolver(graph.channel, *cut, graph.plan.facts)
        else:
            graph.device.start(query.source, alike(math.inf), math.inf, record=False)
        root = None if query.source is None else graph.cut.share.first + query.source
        distances, parents = self._trees.solve(root, graph.types, query.deadline)
        if distances.dtype != graph.distance_type:
            graph.load([distances.dtype])
        graph.device.replace(distances, parents)


def refuse_overflow(channel: Channel, share: Share, distances: NDArray[Any], facts: Facts) -> None:
    """Raise `RunError` on every rank if a vertex needs a sum that did not fit. Collective.

    With negative weights one always does: they could have brought the sum back. An operator does
    not say what a path beyond its limit becomes.
    """
    if (operator := facts.operator) is not None:
        raise everywhere(
            RunError(
                f"objective {quoted(operator.text)}: a path in {facts.name} goes on from a value "
                f"that does not fit, above {operator.most}, or an arc makes one better"
            )
        )
    reached = distances != unreached(distances.dtype)
    everyone = np.concatenate(channel.gather(reached))
    all_reached = np.concatenate([reached, everyone[host_array(share.halo)]])
    offsets, heads = host_array(share.offsets), host_array(share.heads)
    misses = channel.gather(leads_beyond(offsets, heads, reached, all_reached))
    if facts.has_negative or any(misses):
        largest = max(abs(facts.least), abs(facts.greatest))
        or_wider = "" if distances.dtype.kind == "f" else " or use float64"
        raise everywhere(
            RunError(
                f"a distance in {facts.name} does not fit in {distances.dtype}: its weights go up "
                f"to ±{largest}; scale them down{or_wider}"
            )
        )
