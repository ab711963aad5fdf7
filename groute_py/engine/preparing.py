"""Contraction of a graph before it is loaded: whether it pays, and the hierarchy that it gives."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from groute_py.device.registry import contraction_on, kind_of
from groute_py.device.rows import surely_fits
from groute_py.engine.algorithms.methods import CONTRACTION, MethodChoice
from groute_py.engine.algorithms.numbers import distance_types
from groute_py.engine.memory.gpus import on_host, place_for, refuse_large_levels
from groute_py.engine.options import Options
from groute_py.errors import InputError, quoted
from groute_py.graph.csr import Graph
from groute_py.graph.facts import Facts, facts_of
from groute_py.graph.hierarchy.hierarchy import Hierarchy
from groute_py.graph.hierarchy.prepared import PreparedGraph
from groute_py.graph.hierarchy.problems import (
    DenseError,
    NarrowError,
    UnsuitableError,
    cannot,
    why_not,
)
from groute_py.graph.hierarchy.separators.customizable import order_by_separators
from groute_py.graph.hierarchy.separators.order import Orders
from groute_py.source.base import Supply
from groute_py.source.graph_source import GraphSource
from groute_py.system.clock import phase

BEFORE = "its hierarchy was there"
NOW = "contracted, since its vertices have few arcs"


@dataclass(frozen=True, eq=False)
class Preparation:
    """The outcome of preparing a graph; the same on every rank but for the hierarchy."""

    why: str = ""  # the reason for contraction; "" where another method is to be chosen
    why_not: str = ""  # why there is none although it was wanted; "" where it was not
    hierarchy: Hierarchy | None = None  # on rank 0
    type: np.dtype[Any] | None = None  # of its weights; None where there is none

    def __getstate__(self) -> dict[str, Any]:
        """Return the state that other ranks get."""
        return vars(replace(self, hierarchy=None))

    @property
    def choice(self) -> MethodChoice | None:
        """Contraction, if it is chosen."""
        return MethodChoice(CONTRACTION, self.why) if self.why else None

    def explained(self, choice: MethodChoice) -> MethodChoice:
        """Return the choice of another method, with the reason against contraction."""
        if not self.why_not:
            return choice
        return choice._replace(reason=f"{choice.reason}; not contracted: {self.why_not}")


def is_wanted(supply: Supply, options: Options) -> bool:
    """Return whether a graph may have to be contracted, or has a hierarchy; on rank 0."""
    if _is_asked_for(options):
        return True
    return options.algorithm == "auto" and (options.prepare or supply.hierarchy() is not None)


def prepare_for(supply: Supply, options: Options, facts: Facts, kind: str) -> Preparation:
    """Choose whether to contract, and do so if the hierarchy is not there; on rank 0.

    Contraction that was asked for by name is an `InputError` if the graph does not suit.
    """
    is_required = _is_asked_for(options)
    if (why := None if is_required else _other_wish(options)) is not None:
        return Preparation(why_not=why)
    try:
        if (saved := None if options.hops else supply.hierarchy()) is not None:
            refuse_large_levels(saved, facts, kind)
            return Preparation("asked for" if is_required else BEFORE, "", saved, saved.type)
        if not is_required and (why := why_not(facts)) is not None:
            return Preparation(why_not=why)  # before the whole graph is made
        graph = supply.graph()
        if options.hops:
            graph = graph.with_unit_weights()
        prepared, aside = prepare_graph(graph, facts, kind, at_any_length=is_required)
        refuse_large_levels(prepared.hierarchy, facts, kind)
    except UnsuitableError as problem:
        if is_required:
            raise refusal(facts.name, problem) from problem
        return Preparation(why_not=str(problem))
    if kind == "cuda" and not is_required and not _core_fits(prepared.hierarchy):
        return Preparation(why_not="distances within its core may take more than 62 bits")
    if not options.hops:
        supply.keep(prepared)
    reason, hierarchy = "asked for" if is_required else NOW, prepared.hierarchy
    return Preparation(reason + aside, "", hierarchy, hierarchy.type)


def _core_fits(hierarchy: Hierarchy) -> bool:
    weights = hierarchy.core_weights
    greatest = float(weights.max()) if len(weights) else 0.0
    return surely_fits(hierarchy.core_count, greatest, np.dtype(np.int64))


def refusal(name: str, problem: UnsuitableError) -> InputError:
    """Return the error of a graph whose contraction was asked for."""
    return InputError(f"{quoted(name)} cannot be contracted: {problem}; solve it without")


def read_prepared(source: GraphSource, device: str) -> tuple[PreparedGraph, str]:
    """Read a graph, contract it unless it has a hierarchy, and return it with the reason.

    Raises `InputError` where it is not valid or cannot be contracted, else `SetupError`.
    """
    kind = kind_of(device, CONTRACTION.devices)
    with phase("read"):
        whole = source.whole()
    try:
        reason = contract(whole, kind)
    except UnsuitableError as problem:
        raise refusal(whole.graph().name, problem) from problem
    return cast("PreparedGraph", whole.graph()), reason


def with_order(graph: PreparedGraph, orders: Orders | None) -> PreparedGraph:
    """The same in an order from separators, which is kept in ``orders``."""
    with phase("order"):
        order = order_by_separators(graph, orders)
    return PreparedGraph(graph, graph.hierarchy, graph.file, order)


def prepare_whole(graph: Graph, device: str) -> PreparedGraph:
    """The same of a graph in memory."""
    return read_prepared(GraphSource(graph), device)[0]


PreparedGraph.contract = staticmethod(prepare_whole)


def contract(supply: Supply, kind: str, memory_limit: int | None = None) -> str:
    """Contract a graph that has no hierarchy, keep it, and return the reason; on rank 0.

    One that cannot be contracted is an `UnsuitableError`.
    """
    graph = supply.graph()
    if graph.vertex_count == 0:
        raise InputError(f"{quoted(graph.name)} has no vertices, so there is nothing to contract")
    if supply.hierarchy() is not None:
        return BEFORE
    with phase("contract"):
        prepared, aside = prepare_graph(graph, facts_of(graph), kind, memory_limit=memory_limit)
    supply.keep(prepared)
    return NOW + aside


def prepare_graph(
    graph: Graph,
    facts: Facts,
    kind: str,
    *,
    at_any_length: bool = False,
    memory_limit: int | None = None,
) -> tuple[PreparedGraph, str]:
    """Contract a graph; return it, and why the host had to do it in place of a GPU, or "".

    ``at_any_length`` tries also where the mean degree says that it will not pay. If a shortcut does
    not fit in 64 bits, all vertices are then the core; on a GPU distances between these would not
    fit. Raises `UnsuitableError` for a graph that cannot be contracted, or becomes too dense.
    """
    if (why := cannot(facts) if at_any_length else why_not(facts)) is not None:
        raise UnsuitableError(why)
    try:
        place = place_for(facts, kind, memory_limit)
        if place.kind == "cuda":
            try:
                return PreparedGraph(graph, _hierarchy(graph, facts, "cuda")), ""
            except MemoryError as problem:
                place = on_host(facts, f"contraction does not fit on the GPU ({problem})")
        graph = graph.to_host()
        core = facts.vertex_count if at_any_length and not place.why else None
        prepared = PreparedGraph(graph, _hierarchy(graph, facts, "cpu", core))
        return prepared, f"; on the host: {place.why}" if place.why else ""
    except DenseError as problem:
        raise UnsuitableError(str(problem)) from problem
    except NarrowError as problem:
        raise UnsuitableError("a shortcut weighs more than fits in 64 bits") from problem
    except MemoryError as problem:
        raise UnsuitableError(f"contraction does not fit in memory ({problem})") from problem


def _hierarchy(graph: Graph, facts: Facts, kind: str, core: int | None = None) -> Hierarchy:
    """Make the hierarchy in the narrowest type that holds every shortcut.

    ``core`` vertices are left if a shortcut does not fit in 64 bits; None raises then.
    """
    contract = contraction_on(kind)
    rows = (graph.offsets, graph.heads, graph.weights)
    *narrower, widest = distance_types(facts)
    for distance_type in narrower:
        try:
            return contract(*rows, distance_type)
        except NarrowError:
            continue
    try:
        return contract(*rows, widest)
    except NarrowError:
        if core is None:
            raise
        return contract(*rows, widest, core=core)


def _is_asked_for(options: Options) -> bool:
    return options.algorithm == CONTRACTION.name


def _other_wish(options: Options) -> str | None:
    """Name the option that has no meaning with a hierarchy, and asks for another method."""
    if options.hops:
        return "arcs are counted"
    if options.delta is not None:
        return "a Δ was given"
    if options.cutting.renumbers:
        return f"order {options.order} was asked for"
    if options.mode != "auto":
        return f"mode {options.mode} was asked for"
    return None
