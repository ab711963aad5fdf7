"""Block-local steps: a block goes down by itself until some block has gone all its levels."""

from __future__ import annotations

import numpy as np
import pytest
from support.graphs import graph_of, scipy_distances
from support.skips import EMULATED, needs_gpu

from groute_py import Graph, generate, sssp, verify
from groute_py.system.clock import Clock, Record, running

pytestmark = needs_gpu

DEPTHS = [1, 2, 3, 8]


def steps_of(graph: Graph, depth: int, monkeypatch: pytest.MonkeyPatch) -> int:
    """Of a solve from the middle whose blocks go so many levels down, and whose answer is right."""
    from groute_py.device.cuda.sssp import relax_kernel

    monkeypatch.setattr(relax_kernel, "DEPTH", depth)
    source = graph.vertex_count // 2
    result = sssp(graph, source, device="cuda", algorithm="bellman-ford")
    assert result is not None
    np.testing.assert_array_equal(result.distances, scipy_distances(graph, source))
    verify(graph, result)
    return int(result.statistics["steps"])


@pytest.mark.parametrize("depth", DEPTHS)
@pytest.mark.parametrize("seed", range(4))
def test_all_blocks_leave_their_levels(
    seed: int, depth: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wherever they are, when the first has gone all down: nothing is lost."""
    steps_of(generate("road:40x30", seed=seed), depth, monkeypatch)


@pytest.mark.parametrize("depth", DEPTHS)
def test_levels_of_a_path(depth: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A step takes what is near and so many levels more."""
    path = graph_of(200, [(vertex, vertex + 1, 1) for vertex in range(199)])
    assert steps_of(path, depth, monkeypatch) == -(-100 // (depth + 1))


@pytest.mark.skipif(not EMULATED, reason="a GPU's blocks may be as fast as each other")
def test_the_first_block_ends_the_step(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of others, that have more to do in a level, which so need more steps."""
    arms, length, leaves, depth = 16, 60, 20, 8
    arcs, count = [], 1
    for arm in range(arms):
        last = 0
        for _ in range(length):
            vertex, count = count, count + 1
            arcs.append((last, vertex, 1))
            last = vertex
            if arm >= arms // 2:
                arcs += [(vertex, leaf, 1) for leaf in range(count, count + leaves)]
                count += leaves
    from groute_py.device.cuda.sssp import relax_kernel

    monkeypatch.setattr(relax_kernel, "DEPTH", depth)
    graph, alone = graph_of(count, arcs), -(-(length + 1) // (depth + 1))
    steps = []
    for _ in range(4):
        result = sssp(graph, 0, device="cuda", algorithm="bellman-ford", predecessors=False)
        assert result is not None
        np.testing.assert_array_equal(result.distances, scipy_distances(graph, 0))
        steps.append(result.statistics["steps"])
    assert max(steps) > alone


def test_a_trace_has_both_lists_over_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """While a trace is recorded a slice is short, also on one rank."""
    from groute_py.device.cuda.sssp import near_far, relax_kernel

    monkeypatch.setattr(near_far, "SLICE_STEPS", 1)
    monkeypatch.setattr(relax_kernel, "DEPTH", 1)
    clock = Clock("start")
    clock.record = Record()
    with running(clock):
        result = sssp("road:40x30", 600, device="cuda", algorithm="delta-stepping", delta=3000)
    assert result is not None
    counts = [(name, value) for name, _, value in clock.record.counts]
    near, far, relaxations = (
        [value for name, value in counts if name == which]
        for which in ("near", "far", "relaxations")
    )
    assert len(near) == len(far) > 3
    assert max(near) > 0
    assert max(far) > 0
    assert near[-1] == far[-1] == 0
    assert relaxations[-1] == result.statistics["relaxations"]
