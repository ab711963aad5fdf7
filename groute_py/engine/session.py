"""A graph cut, spread over the ranks and loaded on their devices, ready for one solve or many."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from itertools import zip_longest
from types import TracebackType

import numpy as np
from numpy.typing import NDArray

from groute_py.algorithms.choose import Choice, algorithm, devices_of
from groute_py.algorithms.delta_stepping import grade_unit, outer_below, stride
from groute_py.algorithms.numbers import distance_types
from groute_py.comm.base import Channel
from groute_py.device.base import NO_PARENT, Terms, Windows, alike
from groute_py.device.registry import choose, kind_of
from groute_py.engine import fused
from groute_py.engine.agree import on_all, on_root, refuse_difference
from groute_py.engine.collect import collect
from groute_py.engine.device_result import DeviceResult
from groute_py.engine.fused import Together
from groute_py.engine.loop import Pace, run
from groute_py.engine.mode import Mode, Plan, enter, plan_mode
from groute_py.engine.negative_cycle import CycleWatch, SinkingError
from groute_py.engine.options import Options
from groute_py.engine.overflow import refuse_overflow
from groute_py.engine.room import refuse_what_cannot_fit
from groute_py.engine.statistics import RankReport, Statistics, Stopwatch
from groute_py.engine.supply.base import Supply
from groute_py.engine.tasks import Claiming, Relaxing
from groute_py.engine.tree_solve import TreeSolver
from groute_py.errors import GrouteError, InputError, RunError, everywhere, quoted
from groute_py.graph.facts import Facts, counting_hops
from groute_py.graph.ids import Numbering
from groute_py.graph.size import Size
from groute_py.kernels.source import VERTEX_BITS
from groute_py.partition.quality import cost_of, imbalance_of, quality_of
from groute_py.partition.share import Share, share_of
from groute_py.results.result import Result
from groute_py.system.environment import local_rank

LEAD_WINDOWS = 4.0
"""How many windows a rank may work ahead of the smallest pending distance of all ranks."""

TOWARDS_TARGETS = 0.5
"""The same for solves with targets, whose end may be near: each step opens one window."""


class Session:
    """A graph that is distributed over all ranks; collective, like its methods.

    With one rank, several threads may share a session; they solve one after another. Several ranks
    must make the same calls in the same order.

    Args:
        supply: the graph, wherever it lies.
        channel: connects the ranks.
        options: the same on every rank.

    Raises:
        InputError, SetupError: the same one on every rank.
    """

    def __init__(self, supply: Supply, channel: Channel, options: Options) -> None:
        self._channel, self._options = channel, options
        self._watch, self._turn = Stopwatch(), threading.Lock()
        self._solver: int | None = None
        self._trees: TreeSolver | None = None
        on_all(channel, options.check)
        refuse_difference(channel, options.alike)
        with self._watch.phase("check"):
            self.facts: Facts = supply.facts(channel)
        if options.hops:
            self.facts = counting_hops(self.facts)
        on_all(channel, lambda: options.check_against(self.facts))
        self.numbering: Numbering | None = supply.numbering() if channel.rank == 0 else None
        self._method, self._choice = self._choose_method()
        self._types = distance_types(self.facts)
        self._device = on_all(
            channel,
            lambda: choose(
                options.device,
                local_rank(channel.rank),
                direct=channel.direct,
                makers=self._method.makers(channel.size),
            ),
        )
        self._check_download()
        self._check_room()
        self._plan = plan_mode(channel, self._device, self._method, self.facts, options.mode)
        with self._watch.phase("spread"):
            self._receive_share(supply)
        self._load()

    def solve(self, source: int, targets: Sequence[int] = ()) -> Result | None:
        """Shortest paths from ``source`` (0-based); the result on rank 0, None elsewhere.

        With targets the solve ends when all of them are final, and leaves vertices farther than the
        farthest of them unreached. With negative weights no early end is possible, and all vertices
        are solved.

        Raises:
            InputError: the source or a target is not a vertex, or differs between ranks.
            NegativeCycleError: one can be reached from the source.
            TimeLimitError: the time limit passed.
            RunError: a distance does not fit in 64 bits.
        """
        if self._solver == threading.get_ident():
            raise RunError("this session is solving already; a handler of a signal cannot use it")
        with self._turn:
            self._solver = threading.get_ident()
            try:
                return self._solve(source, targets)
            finally:
                self._solver = None

    def _solve(self, source: int, targets: Sequence[int]) -> Result | None:
        if self._mode.linked is not None:
            self._mode.linked.wake()
        refuse_difference(self._channel, {"source": source, "targets": list(targets)})
        self._check_vertices("source", [source])
        self._check_vertices("target", targets)
        watch = Stopwatch()
        own, wanted = self._own_of([source]), self._own_of(targets) if targets else None
        local = int(own[0]) if len(own) else None
        deadline = time.monotonic() + _unlimited(self._options.time_limit_s)
        before = self._channel.bytes_sent.copy()
        self._channel.gather(None)  # so that no rank's time holds another's last download
        if self._trees is None:
            votes = self._improve(local, wanted, watch, deadline)
        else:  # a solve before had to end so
            votes = 0
            self._device.start(local, alike(math.inf), math.inf, record=False)
            self._bound = math.inf
        if self._trees is not None:
            with watch.phase("solve"):
                self._keep_a_tree(self._trees, local, deadline)
        return self._gather(source, watch, votes, self._channel.bytes_sent - before)

    def _improve(
        self, local: int | None, wanted: NDArray[np.int64] | None, watch: Stopwatch, deadline: float
    ) -> int:
        """Solve by the session's method; returns the votes taken.

        If float distances sink by rounding, or tight arcs do not form a whole tree, it sets up a
        `TreeSolver`.
        """
        votes = 0
        try:
            with watch.phase("solve"):
                votes = self._relax(local, wanted, deadline)
            if self._mode.whole is not None:
                self._mode.whole.count()  # not sooner: all ranks wait for the answer
            if self._options.predecessors or self._may_sink:
                with watch.phase("predecessors"):
                    if not self._device.start_claims(not self.facts.has_negative):
                        votes += run(Claiming(self._device), self._channel, Pace(deadline=deadline))
            whole = not self._may_sink or all(self._channel.gather(self._is_whole(local)))
        except SinkingError:
            whole = False
        if not whole:
            cut = (self._share, self._order, self.numbering)
            self._trees = TreeSolver(self._channel, *cut, self.facts)
        return votes

    @property
    def _may_sink(self) -> bool:
        return self.facts.has_negative and self.facts.weight_type.kind == "f"

    def _is_whole(self, local: int | None) -> bool:
        """Whether the source has distance 0 and every other reached vertex has a predecessor."""
        distances, parents = self._device.distances(), self._device.predecessors()
        rooted = parents != NO_PARENT
        if local is not None:
            rooted[local] = distances[local] == 0
        return bool(np.array_equal(rooted, np.isfinite(distances)))

    def _keep_a_tree(self, trees: TreeSolver, local: int | None, deadline: float) -> None:
        """Replace the device's answer by that of a solve that keeps a tree."""
        source = None if local is None else self._share.first + local
        distances, parents = trees.solve(source, self._types, deadline)
        if distances.dtype != self._type:
            self._types = [distances.dtype]
            self._load()
        self._device.replace(distances, parents)

    @property
    def gpu(self) -> str | None:
        """The UUID of this rank's GPU, None on a CPU."""
        return self._device.uuid

    def close(self) -> None:
        """Unmap the memory that is shared with other ranks; collective."""
        self._device.unlink()

    def __enter__(self) -> Session:
        return self

    def __exit__(
        self, _kind: object, error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        """Close, unless this rank fails alone, which ends the job."""
        if error is None or (isinstance(error, GrouteError) and error.on_all_ranks):
            self.close()

    def _relax(self, local: int | None, wanted: NDArray[np.int64] | None, deadline: float) -> int:
        """Solve in the narrowest type that holds every sum; returns the votes taken."""
        if self.facts.has_negative:
            wanted = None  # no distance is final before the end
        votes = 0
        while True:
            self._bound = math.inf
            pace = Pace(TOWARDS_TARGETS if wanted is not None else self._lead(), deadline)
            task = self._task(wanted, deadline)
            cutoff = _unlimited(self._options.cutoff)
            self._device.start(local, self._windows(wanted), cutoff, record=self._records())
            look = self._cycle_watch()
            if self._mode.whole is not None:
                overflowed = fused.run(self._mode.whole, self._channel, pace)
            else:
                votes += run(task, self._channel, pace, look, self._mode.team)
                overflowed = any(self._channel.gather(self._device.counters.overflowed))
            if wanted is not None:
                self._bound = max(self._channel.gather(task.farthest()))
                self._device.forget_beyond(self._bound)
                if math.isfinite(self._bound):
                    return votes  # a sum that does not fit lies beyond
            if not overflowed:
                return votes
            if self._type is self._types[-1]:
                if look is not None:
                    look.look()  # distances on a heavy cycle may leave the range before a check
                refuse_overflow(self._channel, self._share, self._device.distances(), self.facts)
                return votes
            self._types = self._types[self._types.index(self._type) + 1 :]
            self._load()

    def _task(self, wanted: NDArray[np.int64] | None, deadline: float) -> Relaxing:
        """The task for the loop: relaxing by this rank, or with its team."""
        width = self._stride(wanted)
        linked, team = self._mode.linked, self._mode.team
        if linked is None or team is None:
            return Relaxing(self._device, wanted, width)
        pace = Pace(LEAD_WINDOWS, deadline)
        return Together(self._device, wanted, width, linked=linked, team=team, pace=pace)

    def _check_download(self) -> None:
        if self._options.download:
            return
        if self._channel.size > 1 or self._device.name != "cuda":
            what = "the answer can stay on a GPU only where one rank solves, on a GPU"
        elif self._options.renumbers:
            what = "an order is undone in host memory"
        else:
            return
        raise everywhere(InputError(f"{what}; leave out download=False"))

    def _check_room(self) -> None:
        facts, rooms = self.facts, self._channel.gather(self._device.room())
        size, remedy = Size(facts.vertex_count, facts.arc_count), None
        if not self._method.distributed:
            rooms, remedy = rooms[:1], "use a method that GPUs can share, such as bellman-ford"
        on_root(
            self._channel,
            lambda: refuse_what_cannot_fit(facts.name, size, self._types[0], rooms, remedy),
        )

    def _receive_share(self, supply: Supply) -> None:
        options = self._options
        if self._channel.size > 1 and not self._method.distributed:
            options = replace(options, partition="first", order="none")
        spread = supply.spread(self._channel, options)
        part, rows = self._channel.rank, spread.rows
        if self._device.name == "cpu" or self.facts.has_negative:
            rows = rows.to_host()  # where the host works on them
        if self._options.hops:
            rows = replace(rows, weights=np.ones_like(rows.weights, dtype=np.int32))
        self._partition, self._order = spread.partition, spread.order
        self._quality = quality_of(self._channel.gather(cost_of(rows, self._partition, part)))
        self._share: Share = on_all(self._channel, lambda: share_of(rows, self._partition, part))

    def _load(self) -> None:
        self._type = self._types[0]
        self._device.unlink()  # before what peers map is let go
        while isinstance(mode := self._load_as_planned(), Plan):
            self._plan = mode  # for good: what has no room now has none for wider distances
        self._mode = mode
        held = len(self._share.heads) if mode.linked is None else mode.linked.arcs
        self._imbalance = imbalance_of(self._channel.gather(held))

    def _load_as_planned(self) -> Mode | Plan:
        """Load the share for what is planned; see `enter`."""
        most = max(self._channel.gather(len(self._share.heads)))
        plan, below = self._plan.name, self._outer_below()
        terms = Terms(self._type, self._channel.size, plan, most, below, grade_unit(self.facts))
        with self._watch.phase("compile"):
            # rank 0 first, so that the others read from the cache what it has compiled
            on_root(self._channel, lambda: self._device.rehearse(terms))
            on_all(self._channel, lambda: self._device.rehearse(terms))
        with self._watch.phase("upload"):
            on_all(self._channel, lambda: self._device.load(self._share, terms))
            return enter(self._plan, self._channel, self._device)

    def _check_vertices(self, role: str, vertices: Sequence[int]) -> None:
        count, first = self.facts.vertex_count, self.facts.first_id
        for vertex in vertices:
            if not 0 <= vertex < count:
                raise everywhere(
                    InputError(
                        f"{role} {vertex + first} is not a vertex of {quoted(self.facts.name)}; "
                        f"vertices are {first}..{count - 1 + first}"
                    )
                )

    def _own_of(self, vertices: Sequence[int]) -> NDArray[np.int64]:
        """Those that this rank owns, in local numbers; collective."""
        places = on_root(self._channel, lambda: [self._order.place_of(v) for v in vertices])
        mine = self._partition.owner(places) == self._channel.rank
        local: NDArray[np.int64] = np.array(places, np.int64)[mine] - self._share.first
        return local

    def _choose_method(self) -> Choice:
        """The same on every rank, by rank 0's device."""
        choices, size = self._options, self._channel.size
        makers = devices_of(choices.algorithm)
        device = on_root(self._channel, lambda: kind_of(choices.device, makers))
        return on_all(self._channel, lambda: algorithm(choices.algorithm, self.facts, device, size))

    def _delta(self) -> float:
        if self._options.delta is None or math.isinf(self._automatic.widest):
            return self._automatic.widest
        least = 0.0 if self._type.kind == "f" else 1.0
        return max(self._options.delta, least)

    @cached_property
    def _automatic(self) -> Windows:
        return self._method.windows(self.facts, self._device.name, self._channel.size)

    def _records(self) -> bool:
        """Whether a vertex's last improvement makes a tree.

        It does without negative weights, where no rank improves what another owns.
        """
        return self._options.predecessors and self._together and not self.facts.has_negative

    @property
    def _together(self) -> bool:
        """Whether one run of all ranks is a solve."""
        return self._channel.size == 1 or self._mode.whole is not None

    def _windows(self, wanted: NDArray[np.int64] | None) -> Windows:
        """As wide as was asked for; else automatic ones, no wider than a step towards targets.

        They grow where all ranks move them together.
        """
        if self._options.delta is not None:
            return alike(self._delta())
        windows = self._automatic if self._together else alike(self._delta())
        return windows if math.isinf(windows.widest) else windows.upto(self._stride(wanted))

    def _outer_below(self) -> float:
        """Where it is to be prepared for, and all ranks move the windows together."""
        together = self._plan.name in ("alone", "fused")
        fits = self.facts.vertex_count <= 1 << VERTEX_BITS
        if not self._options.prepare or self._options.delta is not None or not together or not fits:
            return 0.0
        return outer_below(self.facts, self._automatic)

    def _stride(self, wanted: NDArray[np.int64] | None) -> float:
        """How wide a step towards targets is, where the method has no Δ."""
        if wanted is None:
            return math.inf
        return stride(self.facts, self._device.name)

    def _lead(self) -> float:
        return math.inf if self._channel.size == 1 else LEAD_WINDOWS

    def _cycle_watch(self) -> CycleWatch | None:
        if not self.facts.has_negative:
            return None
        return CycleWatch(
            self._channel,
            self._share,
            self._order,
            self.numbering,
            self.facts,
            self._device.distances,
        )

    def _bytes_sent(self, by_channel: NDArray[np.int64]) -> list[int]:
        by_kernels = self._device.counters.sent[: len(by_channel)]
        return [int(a) + b for a, b in zip_longest(by_channel, by_kernels, fillvalue=0)]

    def _gather(
        self, source: int, watch: Stopwatch, votes: int, bytes_sent: NDArray[np.int64]
    ) -> Result | None:
        with watch.phase("download"):
            tree = self._options.predecessors
            if self._options.download:
                answer = collect(self._channel, self._device, self._order, predecessors=tree)
            else:
                answer = self._device.held(predecessors=tree)
        report = RankReport(
            device=f"{self._device.name}: {self._device.label}",
            counters=self._device.counters,
            seconds={**self._watch.seconds, **watch.seconds},
            bytes_sent=self._bytes_sent(bytes_sent),
            arcs_reached=self._device.arcs_reached(),
        )
        reports = self._channel.gather(report)
        if answer is None or self.numbering is None:
            return None
        statistics = Statistics(
            algorithm=self._method.name,
            choice=self._choice,
            delta=self._delta(),
            distance_type=self._type.name,
            mode=self._mode.name,
            reason=self._mode.reason,
            votes=votes,
            order=self._order.name,
            cut=self._quality.cut,
            imbalance=self._imbalance,
            bound=self._bound if math.isfinite(self._bound) else None,
        )
        statistics.add(reports)
        kind = Result if self._options.download else DeviceResult
        figures, first_id, ids = statistics.as_dict(), self.facts.first_id, self.numbering.ids
        return kind(source, answer[0], answer[1], figures, first_id, ids)


def _unlimited(number: float | None) -> float:
    return math.inf if number is None else number
