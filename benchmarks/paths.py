"""``python -m benchmarks --paths``: rasters, k shortest paths, objectives, and other programs.

    python -m benchmarks --paths --device cuda
    python -m benchmarks --paths --device cpu --case raster:1000x1000/maze --case routes:NY/1000/k5
    mpirun -n 2 python -m benchmarks --paths --device cuda --case raster:10000x10000/random

* ``raster:WxH/random``, ``raster:WxH/maze``: least-cost distances from a corner, in float32, with 8
  neighbours, in mazes with 4. On one GPU friction and distances are arrays of CuPy, and ``host_s``
  is the median where they are of NumPy; elsewhere they are of NumPy. Several ranks run no others.
* ``routes:GRAPH/N/kK``: the K shortest simple paths of N random pairs, on an open, prepared solver.
* ``objective:GRAPH/NAME``: the best values of all vertices from one source, on an open solver; for
  ``reliable`` the weight w stands for the probability 1 − w / 2·max.

``first_s`` is the first call, which may compile kernels. ``peers`` has for each program of
`benchmarks.path_peers` its seconds, and ``part``: the rows of our answer that it has; or why it was
skipped. Our answers are equal to theirs but for rounding. Beside, rasters are proven by their
directions, objectives by `groute_py.verify`, and routes have the distances of `right_distances`.
"""

from __future__ import annotations

import re
import statistics
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

import groute_py
from benchmarks.attempts import Record
from benchmarks.cases import KINDS
from benchmarks.comparison import check_same, comparable, peer_record, seconds_of, shown_peers
from benchmarks.frictions import friction_of
from benchmarks.job_peers import Held, held_graph
from benchmarks.path_peers import OBJECTIVES, RASTER_PEERS, ROUTE_PEERS, objective_peers
from benchmarks.program import Program, timed
from benchmarks.reference import right_distances
from groute_py import Graph, InputError, VerificationError
from groute_py.comm.base import Channel

SETS = {
    "cuda": [
        "raster:300x300/random",
        "raster:2000x2000/random",
        "raster:2000x2000/maze",
        "raster:5000x5000/random",
        "raster:10000x10000/random",
        "raster:10000x10000/maze",
        "routes:road:60x60/1000/k5",
        "routes:NY/1000/k5",
        *(f"objective:NY/{name}" for name in OBJECTIVES),
        *(f"objective:rmat:16/{name}" for name in OBJECTIVES),
    ],
    "cpu": [
        "raster:1000x1000/random",
        "raster:1000x1000/maze",
        "routes:road:60x60/1000/k5",
        *(f"objective:rmat:16/{name}" for name in OBJECTIVES),
    ],
}
"""The cases without ``--case``, by device."""

FORMS = (
    r"(raster):(\d+x\d+)/(random|maze)",
    r"(routes):(([A-Za-z]+)[^/]*)/(\d+)/k(\d+)",
    rf"(objective):(([A-Za-z]+)[^/]*)/({'|'.join(OBJECTIVES)})",
)


@dataclass(frozen=True)
class Case:
    """One case to measure.

    Attributes:
        name: its text.
        words: the groups of its form among `FORMS`; the first is the job.
    """

    name: str
    words: tuple[str, ...]

    @classmethod
    def parse(cls, text: str) -> Case:
        """Parse the text of a case.

        Raises:
            InputError: there is no such case.
        """
        match = next(filter(None, (re.fullmatch(form, text) for form in FORMS)), None)
        if not match or (match[1] != "raster" and match[3] not in KINDS):
            raise InputError(
                f"case {text!r} is unknown; a case is raster:WxH/random, raster:WxH/maze, "
                f"routes:GRAPH/N/kK or objective:GRAPH/NAME, with {', '.join(OBJECTIVES)}"
            )
        return cls(text, match.groups())


def _raster(channel: Channel, case: Case, device: str, repeat: int) -> Record:
    width, height = map(int, case.words[1].split("x"))
    neighbours = 4 if case.words[2] == "maze" else 8
    friction: Any = friction_of(width, height, case.words[2]) if channel.rank == 0 else None
    how: Record = {"neighbours": neighbours, "device": device}
    run = partial(groute_py.cost_distance, friction, [(0, 0)], **how)
    first_s, result = seconds_of(run)
    with_directions = run(back_direction=True)
    walls, spent = timed(channel, run, repeat)
    record: Record = {"cells": width * height, "first_s": first_s, "peers": {}}
    if result is None or with_directions is None:  # on other ranks
        return record
    ours = result.distance
    if not np.array_equal(ours, with_directions.distance):
        raise VerificationError(f"{case.name}: distances without directions differ")
    reached = ours[np.isfinite(ours)]
    record |= {"reached": len(reached), "farthest": float(reached.max())}
    if device == "cuda" and channel.size == 1:
        record["host_s"] = statistics.median(walls)
        walls, spent = _on_gpu(channel, friction, how, repeat)
    record |= {"seconds": walls, "processor_seconds": spent, "median_s": statistics.median(walls)}
    if channel.size == 1:
        peers = {name: partial(make, friction, neighbours) for name, make in RASTER_PEERS.items()}
        record |= _beside(case, peers, ours, repeat)
    return record


def _on_gpu(channel: Channel, friction: Any, how: Record, repeat: int) -> Any:
    """Return the times of calls whose friction and distances are arrays of CuPy."""
    import cupy

    there = cupy.asarray(friction)

    def run() -> None:
        groute_py.cost_distance(there, [(0, 0)], **how)
        cupy.cuda.Device().synchronize()

    run()
    return timed(channel, run, repeat)


def _routes(channel: Channel, case: Case, device: str, repeat: int) -> Record:
    held, count, k = held_graph(case.words[1], device), int(case.words[3]), int(case.words[4])
    pairs = np.random.default_rng(7).integers(0, held.graph.vertex_count, (count, 2))
    with groute_py.open(held.graph, prepare=True, predecessors=False, device=device) as solver:
        record, routes = _timed(channel, lambda: solver.route(pairs, k=k), repeat)
    ours = comparable(routes.distances)
    right = comparable(right_distances(held.graph, int(pairs[0, 0])))[pairs[0, 1]]
    check_same(case.name, "Dijkstra", ours[0, 0], right)
    peers = {name: partial(make, held, pairs, k) for name, make in ROUTE_PEERS.items()}
    return _of_graph(held.graph, record) | _beside(case, peers, ours, repeat)


def _objective(channel: Channel, case: Case, device: str, repeat: int) -> Record:
    file, name = held_graph(case.words[1], device).graph, case.words[3]
    source, weights = KINDS[case.words[2]].source(file), file.weights
    if name == "reliable":
        weights = 1 - weights / (2 * weights.max())
    graph = file.with_weights(weights)
    how: Record = {"objective": name, "predecessors": False, "device": device}
    with groute_py.open(graph, **how) as solver:
        record, result = _timed(channel, lambda: solver.sssp(source), repeat)
    groute_py.verify(graph, result, objective=name)
    rows = [comparable(result.distances)]
    if name == "fewest-arcs":
        rows.append(comparable(result.carried["length"]))
    held = Held(file.with_weights(OBJECTIVES[name].costs(weights)), device)
    peers = objective_peers(name, held, weights, source)
    return _of_graph(graph, record) | _beside(case, peers, np.stack(rows), repeat)


def _timed(channel: Channel, run: Callable[[], Any], repeat: int) -> tuple[Record, Any]:
    first_s, result = seconds_of(run)
    walls, spent = timed(channel, run, repeat)
    record: Record = {"first_s": first_s, "seconds": walls, "processor_seconds": spent}
    return record | {"median_s": statistics.median(walls)}, result


def _of_graph(graph: Graph, record: Record) -> Record:
    return {"vertices": graph.vertex_count, "arcs": graph.arc_count} | record


def _beside(case: Case, peers: Any, ours: Any, repeat: int) -> Record:
    records = {
        name: peer_record(case.name, name, make, ours, repeat) for name, make in peers.items()
    }
    return {"rows": len(ours), "peers": records}


JOBS = {"raster": _raster, "routes": _routes, "objective": _objective}


def _measure(channel: Channel, case: Case, device: str, repeat: int) -> Record:
    if channel.size > 1 and case.words[0] != "raster":
        raise InputError(f"{case.name}: other programs run beside one rank")
    return JOBS[case.words[0]](channel, case, device, repeat)


def _shown(record: Record) -> str:
    parts = [f"{1e3 * record['median_s']:.2f} ms"]
    if "host_s" in record:
        parts.append(f"from host memory {1e3 * record['host_s']:.2f} ms")
    return ", ".join(parts + shown_peers(record, record.get("rows", 1)))


PROGRAM: Program[Case] = Program("paths", Case.parse, SETS, _measure, _shown)
