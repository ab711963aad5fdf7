"""Wrong requests of an assignment: one clear error each."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.assignment import BRAESS, TIMES
from support.skips import require_metis

from groute_py import (
    BPR,
    Conical,
    FormatError,
    GraphError,
    InputError,
    UserClass,
    assign,
)

require_metis()


@pytest.mark.parametrize(
    ("demand", "options", "message"),
    [
        (([0], [9], [1.0]), {}, "destination 9 is not a vertex"),
        (([0], [1], [-1.0]), {}, "trips from 0 to 1 are -1.0"),
        (([0], [1], [float("nan")]), {}, "trips from 0 to 1 are nan"),
        (([0], [1, 2], [1.0]), {}, "three lists of one length"),
        (np.ones((9, 9)), {}, "9 zones, but"),
        ("trips.csv", {}, "no such file"),
        (7, {}, "trips are a file, three lists"),
        ({}, {}, "no class of travellers"),
        ({"all": UserClass(([0], [1], [1.0]), pce=0)}, {}, "pce must be positive"),
        (([0], [1], [1.0]), {"method": "best"}, "choose one of tfw, bfw, cfw, fw, msa"),
        (([0], [1], [1.0]), {"device": "gpu"}, "choose one of auto, cpu, cuda"),
        (([0, 0], [1, 2], [1e308, 1e308]), {}, "trips add up to more than a number can be"),
        (([0], [1], [1.0]), {"gap": -1.0}, "gap must not be negative"),
        (([0], [1], [1.0]), {"gap": float("nan")}, "gap must not be negative"),
        (([0], [1], [1.0]), {"first_through": 9}, "first_through: 9"),
        (([0], [1], [1.0]), {"skims": ["time"], "start": np.zeros(5)}, "start: the paths of these"),
        (([0], [1], [1.0]), {"select": {"x": [(1, 0)]}}, "select 'x': no link leads from 1 to 0"),
        (([0], [1], [1.0]), {"select": {"x": [(1, 9)]}}, "select x: end 9 is not a vertex"),
        (([0], [1], [1.0]), {"select": {"x": [3]}}, "links are pairs"),
        (([0], [1], [1.0]), {"select": ["x"]}, "select must be a mapping of names"),
        (([0], [1], [1.0]), {"skims": "cost"}, "skims must be a list of names, not 'cost'"),
        (([0], [1], [1.0]), {"gap": None}, "gap must be a number"),
        (([0], [1], [1.0]), {"first_through": "x"}, "first_through must be the id of a vertex"),
        (([0], [1], [1.0]), {"iterations": 2.5}, "iterations must be an integer"),
        (([0], [1], [1.0]), {"iterations": 0}, "iterations must be 1 to 10,000,000, not 0"),
        (([0], [1], [1.0]), {"increments": 0}, "increments must be 1 to 10,000,000, not 0"),
        (([0], [1], [1.0]), {"start": "none.csv"}, "none.csv: cannot be read"),
        (([0], [1], [1.0]), {"iterations": 10**14}, "iterations must be 1 to 10,000,000"),
        (([0], [1], [1.0]), {"time_limit_s": "1"}, "time limit must be a number"),
        (([0], [1], [1.0]), {"time_limit_s": -1}, "time limit must not be negative"),
        (([0], [1], [1.0]), {"time_limit_s": float("nan")}, "time limit must not be negative"),
        (([0], [3], [1e80]), {}, "costs of these trips are greater than a number can be"),
        (([0], [3], [1e63]), {}, "costs of these trips are greater than a number can be"),
    ],
)
def test_wrong_requests(demand: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        assign(BRAESS, demand, times=TIMES, **options)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: BPR([1.0, -1.0], 1), "free-flow time of link 1 is -1"),
        (lambda: BPR([1.0, np.nan], 1), "free-flow time of link 1 is nan"),
        (lambda: BPR([1.0, 1.0], [1, 0]), "capacity of link 1 is 0"),
        (lambda: BPR([1.0], 1, 1, 0.5), "power of link 0 is 0.5"),
        (lambda: BPR([1.0], [1, 2]), "need 1 values of capacity"),
        (lambda: Conical([1.0], 0), "capacity of link 0"),
        (lambda: Conical([1.0], 1, 1), "alpha of link 0"),
    ],
)
def test_wrong_links(make: Any, message: str) -> None:
    with pytest.raises(GraphError, match=message):
        make()


@pytest.mark.parametrize("times", [BPR([10.0], 2), BPR(np.ones(6), 2), Conical([10.0], 2)])
def test_times_of_other_links(times: Any) -> None:
    with pytest.raises(GraphError, match=r"times are of [16] links, and .* has 5 links"):
        assign(BRAESS, ([0], [3], [6.0]), times=times)


def test_a_graph_without_columns() -> None:
    with pytest.raises(GraphError, match="has no column free_flow_time"):
        assign(BRAESS, ([0], [3], [1.0]))
    with pytest.raises(GraphError, match="has no column 'toll'; skims are cost, time"):
        assign(BRAESS, ([0], [3], [1.0]), times=TIMES, skims=["toll"])


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("origin,destination\n0,3\n", 1),
        ("origin,destination,trips\n0,3\n", 2),
        ("origin,destination,trips\n0,3,5\n\n0,3,many\n", 4),
    ],
)
def test_wrong_tables_of_trips(text: str, line: int, tmp_path: Path) -> None:
    (tmp_path / "trips.csv").write_text(text)
    with pytest.raises(FormatError, match=rf"trips.csv:{line}: "):
        assign(BRAESS, tmp_path / "trips.csv", times=TIMES)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("tail,head\n0,1\n", "flows.csv:1: there is no column 'flow_a', 'flow_b'"),
        ("flow_a,flow_b\n1,2\n1,x\n", "flows.csv:3: expected flows, got '1,x'"),
        ("flow_a,flow_b\n1,2\n", r"start: flows have shape \(2, 1\), not \(2, 5\)"),
    ],
)
def test_wrong_tables_of_flows(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "flows.csv"
    path.write_text(text)
    trips = ([0], [3], [6.0])
    with pytest.raises(InputError, match=message):
        assign(BRAESS, {"a": trips, "b": trips}, times=TIMES, start=path)
