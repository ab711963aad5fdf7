"""Labels by an order from separators: whether they pay, and those of a graph on every rank."""

from __future__ import annotations

import math
import time
from collections.abc import Generator
from contextlib import suppress
from dataclasses import replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from groute_py.comm.agree import collective, on_root
from groute_py.comm.base import Channel, SoloChannel
from groute_py.comm.team import ranks_of_host
from groute_py.device.registry import gpu_problem
from groute_py.device.rows import RowBlock, surely_fits
from groute_py.engine.options import Options
from groute_py.errors import GraphError, SetupError
from groute_py.graph.csr import Graph
from groute_py.graph.facts import Facts
from groute_py.graph.hierarchy.prepared import order_of_prepared
from groute_py.graph.hierarchy.problems import cannot
from groute_py.graph.hierarchy.separators.customizable import (
    CustomizableHierarchy,
    customizable,
    saved_order,
)
from groute_py.graph.hierarchy.separators.order import OneOrder, Orders
from groute_py.graph.ids import Positions
from groute_py.many.choose import SMALL, Choice
from groute_py.many.customized import Customized
from groute_py.many.estimates import label_seconds, order_seconds
from groute_py.source.graph_source import GraphSource
from groute_py.system.clock import span

LABELS = "labels"  # the name of the method
CALLS = 4  # a prepared graph is expected to be asked so many times as much as it has been

LONGEST_ORDER_S = 10.0
"""Seconds of an order up to which a call waits for it without being asked."""

SAVED_SHARE = 0.3
"""Share of an order's time that is left if it is kept: neighbours, and what follows from it."""

PATIENCE = 20
"""Labels that had no room are tried again after so many times as long as that took."""

ENTRIES_AT_ONCE = {"cpu": 1 << 21, "cuda": 1 << 27}
"""Distances of a block of rows, about: a second of a core, and what a GPU has room for."""


def pays(order_s: float, labels_s: float, other_s: float, before_s: float = 0.0) -> bool:
    """Return whether labels are to answer a call, which takes other methods ``other_s``.

    An order is made once labels, had they been there, would have saved a good part of its time,
    ``order_s`` (0 if it is there, infinite if it is not wanted), in this call and in those before.
    """
    saving_s = other_s - labels_s
    return saving_s > 0 and order_s <= CALLS * (before_s + saving_s)


class GraphLabels:
    """The order of a graph, and on this rank's device its labels, once they pay.

    On rank 0 ``order``, or else ``source``, says where there is one.
    """

    def __init__(self, source: GraphSource | None = None) -> None:
        self._source, self.order = source, cast("OneOrder | None", None)
        self._is_saved: bool | None = None  # None where it has not been looked for
        self._hierarchy: CustomizableHierarchy | None = None
        self._host: Channel = SoloChannel()  # between the ranks of this one's host
        self._customized: Customized | None = None
        self._missed_s = 0.0  # on rank 0
        self._why_never = ""
        self._shortage, self._again = "", -math.inf  # on rank 0

    @property
    def why_not(self) -> str:
        """The reason against labels now, "" for none; on rank 0."""
        is_short = time.monotonic() < self._again
        return self._why_never or (self._shortage if is_short else "")

    @property
    def customized(self) -> Customized:
        """The graph as it answers, after `prefer` has chosen labels."""
        assert self._customized is not None
        return self._customized

    def prefer(
        self,
        channel: Channel,
        graph: Graph,
        facts: Facts,
        options: Options,
        other: Choice,
        request: tuple[str, int],
    ) -> Choice:
        """Return labels, which are then ready, or the other method. Collective.

        The ``request`` is for so many ``pairs``, ``paths``, entries of a ``matrix``, or ``rows``.
        """
        kinds = channel.gather(_device(options, facts))  # ranks with labels together have one kind
        options = replace(options, device="cpu" if "cpu" in kinds else "cuda")
        is_chosen, reason = on_root(
            channel, lambda: self._decide(channel.size, graph, facts, options, other, request)
        )
        if not is_chosen:
            return replace(other, reason=reason)
        start_s = time.monotonic()
        try:
            ready = self._make(channel, graph, options, request)
        except (GraphError, SetupError) as problem:
            self.drop()
            if self._hierarchy is None:
                self._why_never = str(problem)
            else:  # memory is short, perhaps for a while
                self._shortage, now = str(problem), time.monotonic()
                self._again = now + PATIENCE * (now - start_s)
            return replace(other, reason=f"{other.reason}; no labels: {problem}")
        if ready.shares > 1:
            reason = f"{reason}; {ready.shares} ranks have a share of the labels each"
        if ready.shortage:
            reason = f"{reason}; no labels: {ready.shortage}"
        return Choice(LABELS, options.device, reason)

    def update(self, weights: Any, arcs: Any) -> None:
        """Take other weights, as `Customized.update`; labels that cannot have them are dropped.

        Collective.
        """
        graph, self._customized = self._customized, None  # unless this ends well
        if graph is None:
            return
        is_right = False
        with suppress(GraphError, MemoryError):
            graph.update(weights, arcs=arcs)
            is_right = graph.unit is None
        self._customized = graph
        if not all(self._host.gather(is_right)):
            self.drop()

    def drop(self) -> None:
        """Free the device; the order stays. Collective."""
        graph, self._customized = self._customized, None
        if graph is not None:
            graph.close()

    def _decide(
        self,
        ranks: int,
        graph: Graph,
        facts: Facts,
        options: Options,
        other: Choice,
        request: tuple[str, int],
    ) -> tuple[bool, str]:
        """Return whether labels are chosen, and the reason for the choice; on rank 0."""
        if options.algorithm != "auto":
            return False, other.reason
        why = self.why_not or _why_not(facts)
        labels_s = label_seconds(facts, options.device, *request, ranks)
        saving = labels_s, other.seconds, self._missed_s
        order_s = math.inf if why else self._order_seconds(graph, facts, options, saving)
        if math.isinf(order_s) and not options.keeps_prepared:
            return False, other.reason
        if math.isinf(order_s) and not why:
            seconds = order_seconds(facts.vertex_count, facts.arc_count)
            why = f"an order takes about {seconds:.0f} s; make it by groute-py prepare --separators"
        if why:
            return False, f"{other.reason}; no labels: {why}"
        is_chosen = pays(order_s, *saving)
        self._missed_s += max(other.seconds - labels_s, 0.0)
        figures = f"labels {labels_s:.2g} s" + (f" after {order_s:.2g} s" if order_s else "")
        if is_chosen:
            return True, f"estimates: {figures}, {other.algorithm} {other.seconds:.2g} s"
        return False, f"{other.reason}; {figures}"

    def _order_seconds(
        self, graph: Graph, facts: Facts, options: Options, saving: tuple[float, float, float]
    ) -> float:
        """Estimate the seconds until there is an order; infinite if none is to be made.

        One that is kept is looked for if it would pay.
        """
        if self._hierarchy is not None:
            return 0.0
        anew_s = order_seconds(facts.vertex_count, facts.arc_count)
        is_free = order_of_prepared(graph) is not None
        if self._is_saved is None and (is_free or pays(SAVED_SHARE * anew_s, *saving)):
            self._is_saved = saved_order(graph, self._orders) is not None
        if self._is_saved:
            return SAVED_SHARE * anew_s
        limit_s = math.inf if options.time_limit_s is None else options.time_limit_s
        is_short = anew_s <= min(LONGEST_ORDER_S, limit_s)
        return anew_s if options.keeps_prepared and is_short else math.inf

    @property
    def _orders(self) -> Orders | None:
        if self.order is not None or self._source is None:
            return self.order
        return self._source.orders

    def _make(
        self, channel: Channel, graph: Graph, options: Options, request: tuple[str, int]
    ) -> Customized:
        """Order the graph on rank 0, customize it on every rank, and have labels; collective."""
        start_s = time.monotonic()
        if self._hierarchy is None:
            with span("order"):
                self._hierarchy = on_root(channel, lambda: customizable(graph, self._orders))
                self._host = ranks_of_host(channel)
        with collective(channel), span("labels"):
            if self._customized is None:
                words = self._hierarchy, options.device, time.monotonic() - start_s
                self._customized = Customized(self._host, graph, *words)
        kind, count = request
        with collective(channel), span("labels"):
            self.customized.share(0 if kind == "rows" else count)
            if kind == "matrix" and self.customized.shortage:  # other methods are faster
                raise GraphError(self.customized.shortage)
        return self.customized


class LabelRows:
    """Rows of targets by labels, and whole ones by sweeps; see `groute_py.device.rows.RowSolver`.

    Its blocks are not lent: their arrays, always on the host, stay as they are.
    """

    def __init__(self, graph: Customized, device: str) -> None:
        self._graph, self._device = graph, device
        self.label = graph.label

    def blocks(
        self,
        sources: NDArray[np.int64],
        targets: NDArray[np.int64] | None = None,
        *,
        on_gpu: bool = False,
    ) -> Generator[RowBlock, None, None]:
        width = self._graph.hierarchy.vertex_count if targets is None else len(targets)
        step = max(ENTRIES_AT_ONCE[self._device] // max(width, 1), 1)
        for first in range(0, len(sources), step):
            some = Positions(sources[first : first + step])
            if targets is None:
                yield RowBlock(first, self._graph.rows(some), None)
            else:
                yield RowBlock(first, self._graph.matrix(some, Positions(targets)), None)


def _why_not(facts: Facts) -> str | None:
    if (why := cannot(facts)) is not None:
        return why
    if not surely_fits(facts.vertex_count, float(facts.greatest), np.dtype(np.int64)):
        return "distances may take more than 62 bits"
    return None


def _device(options: Options, facts: Facts) -> str:
    """Return the kind of device that labels take."""
    if options.device != "auto":
        return options.device
    return "cpu" if gpu_problem() is not None or facts.arc_count <= SMALL else "cuda"
