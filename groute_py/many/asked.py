"""What a job on many sources is, beside its graph."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from groute_py.engine.options import Options
from groute_py.errors import InputError, NegativeCycleError, quoted
from groute_py.hierarchy.prepared import hierarchy_of
from groute_py.many.choose import Choice, choose
from groute_py.many.row_graph import RowGraph
from groute_py.many.solve import heights
from groute_py.many.sources import checked


class Asked(NamedTuple):
    """What of a job is not of the graph; see `Job`."""

    sources: NDArray[np.int64]
    targets: NDArray[np.int64] | None
    choice: Choice
    height: NDArray[Any] | None


def asked_of(
    one: RowGraph,
    sources: NDArray[np.int64] | None,
    targets: NDArray[np.int64] | None,
    options: Options,
    ranks: int,
    apart: str | None,
    in_place: Choice | None = None,
    destination: str = "nowhere",
) -> Asked:
    """What all ranks are to do; made on rank 0.

    ``in_place`` and ``destination`` are as for `choose`.
    """
    layout, whole = one.layout, one.graph
    facts, count = one.facts, layout.vertex_count
    if count == 0:
        raise InputError(f"{quoted(facts.name)} has no vertices, so there is no source")
    every = np.arange(count) if sources is None else sources
    every = checked(every.astype(np.int64, copy=False), count, facts.name)
    if targets is not None:
        targets = checked(targets, count, facts.name, "target")
    prepared = hierarchy_of(whole) is not None
    asked = options, facts, len(every), ranks, apart
    choice = choose(*asked, prepared=prepared, in_place=in_place, destination=destination)
    if not facts.has_negative:
        return Asked(every, targets, choice, None)
    try:
        height = heights(whole, one.given, options, layout.begins(every))
    except NegativeCycleError as error:
        found = layout.cycle(error)
        raise one.direction.of_cycle(found) from None
    return Asked(every, targets, choice, height)
