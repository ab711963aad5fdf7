"""Traffic assignment of public networks, beside the flows that were published with them."""

from __future__ import annotations

import lzma
from pathlib import Path

import numpy as np
import pytest
from support.assignment import gap_of
from support.skips import require_metis

from groute_py import (
    UserClass,
    assign,
    read_graph,
)
from groute_py.io.formats.tntp import read_trips

require_metis()


@pytest.mark.parametrize(
    ("name", "factors", "objective"),
    [
        ("SiouxFalls", {}, 4231335.287107440),
        ("Anaheim", {}, None),
        ("Barcelona", {}, 1265654.92203176),
        ("Winnipeg", {}, 827911.494629963),
        ("ChicagoSketch", {"toll": 0.02, "length": 0.04}, 17313018.7387477),
    ],
)
@pytest.mark.slow
def test_published_equilibria(
    name: str, factors: dict[str, float], objective: float | None, data_folder: Path
) -> None:
    folder = data_folder / "tntp"
    net, trips, flow = (
        next(folder.glob(f"{name}_{part}.tntp*")) for part in ("net", "trips", "flow")
    )
    network, demand = read_graph(net), UserClass(trips, factors)
    with lzma.open(flow) as file:
        published = np.loadtxt(file, skiprows=1, usecols=(0, 1, 2))
    order = np.lexsort((network.heads, network.tails()))
    flows = np.empty(network.arc_count)
    flows[order] = published[np.lexsort((published[:, 1], published[:, 0])), 2]
    at_best = assign(network, {"all": demand}, start=flows, iterations=1)
    assert at_best.gap < 1e-12
    answer = assign(network, {"all": demand}, gap=3e-7, iterations=5000)
    assert answer.is_converged
    table = read_trips(trips)
    some = table.origins - 1, table.destinations - 1, table.flows
    costs = answer.times + sum(factor * network.columns[name] for name, factor in factors.items())
    zones = (network.reading.first_through or 1) - 1
    assert gap_of(network, answer, some, costs, zones) == pytest.approx(answer.gap, abs=1e-9)
    best = objective or at_best.objective
    assert at_best.objective == pytest.approx(best, rel=1e-9)
    assert answer.objective == pytest.approx(best, rel=1e-6)
    is_unique = (network.columns["b"] > 0) & (network.columns["free_flow_time"] > 0)
    error = np.abs(answer.volumes - at_best.volumes)[is_unique]
    assert error.sum() < 1e-3 * at_best.volumes[is_unique].sum()
