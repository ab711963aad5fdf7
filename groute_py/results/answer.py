"""The answer of a job on the graph that is open, beside its arrays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.graph.geography import Units
from groute_py.graph.ids import Numbering
from groute_py.results.tables import Attributes
from groute_py.results.tabular import Tabular


@dataclass(frozen=True, eq=False, kw_only=True)
class JobAnswer(Tabular):
    """Facts that answers have beside their arrays, as far as they are known.

    Attributes:
        statistics: how it was computed: ``algorithm``, ``reason``, ``device`` and the like.
        numbering: between positions and the graph's own ids.
        attribution: the credit to show with the answer, "" for none.
        units: of the distances by "", and of columns by their names, where they are known.
        attributes: other columns of `groute_py.Points` by role (``source``, ``target``,
            ``facility``, ``vertex`` or ``pair``) and title.
        carried: by the name of a column its sum along each path (``carry=``), of the shape of
            ``distances``: int64 or float64, as there where no path leads.
    """

    statistics: dict[str, Any] = field(default_factory=dict, repr=False)
    numbering: Numbering = field(default_factory=lambda: Numbering(0), repr=False)
    attribution: str = field(default="", repr=False)
    units: Units = field(default_factory=dict, repr=False)
    attributes: Attributes = field(default_factory=dict, repr=False)
    carried: Mapping[str, NDArray[Any]] = field(default_factory=dict, repr=False)


def arrays_about(graph: Any) -> dict[str, Any]:
    """Return what an ``.npz`` file says of a graph, or repeats of an answer: ids and credit."""
    numbering, arrays = graph.numbering, {"first_id": np.int64(graph.numbering.first)}
    if numbering.ids is not None:
        arrays["ids"] = numbering.ids
    return arrays | ({"attribution": np.array(graph.attribution)} if graph.attribution else {})


def about(graph: Any) -> dict[str, Any]:
    """Return what an answer says of a graph, or repeats of another answer."""
    return {name: getattr(graph, name) for name in ("numbering", "attribution", "units")}
