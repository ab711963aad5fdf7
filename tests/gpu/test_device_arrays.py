"""Graphs that lie on a GPU, and answers that stay there."""

from __future__ import annotations

import pickle
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from support.graphs import graph_of, random_graph
from support.local_ranks import on_ranks
from support.skips import needs_gpu, require_metis

import groute_py
from groute_py import UNREACHED, Graph, GraphError, InputError, verify
from groute_py.comm.base import SoloChannel
from groute_py.engine.options import Options
from groute_py.engine.solver import SourceSolver
from groute_py.source.whole import GraphSupply

pytestmark = needs_gpu


@pytest.fixture(scope="module")
def cupy() -> Any:
    return pytest.importorskip("cupy")


def on_gpu(cupy: Any, graph: Graph) -> Graph:
    arrays = (cupy.asarray(array) for array in (graph.offsets, graph.heads, graph.weights))
    return Graph.from_arrays(*arrays)


@pytest.mark.parametrize("dtype", ["int32", "uint32", "int64", "float32", "float64"])
def test_no_copy_and_the_same_answer(cupy: Any, dtype: str) -> None:
    graph = random_graph(300, 1500, 7, 50)
    weights = cupy.asarray(graph.weights.astype(dtype))
    there = Graph.from_arrays(cupy.asarray(graph.offsets), cupy.asarray(graph.heads), weights)
    assert there.on_device
    assert there.weights.data.ptr == weights.data.ptr
    result = groute_py.sssp(there, 3, device="cuda")
    assert result is not None
    verify(there, result)
    expected = groute_py.sssp(there.to_host(), 3, device="cpu")
    assert expected is not None
    assert result.distances.tolist() == expected.distances.tolist()
    figures = result.statistics, expected.statistics
    needed = [f["relaxations"] - f["useless_relaxations"] for f in figures]
    assert needed[0] == needed[1] > 0


def test_arrays_of_other_types_and_steps(cupy: Any) -> None:
    offsets, heads = cupy.array([0, 2, 3, 3], np.int32), cupy.array([1, 2, 2], np.uint64)
    weights = cupy.array([4, 0, 9, 0, 3, 0], np.float16)[::2]
    result = groute_py.sssp((offsets, heads, weights), 0, device="cuda")
    assert result is not None
    assert result.distances.tolist() == [0, 4, 7]


def test_a_sparse_matrix(cupy: Any) -> None:
    sparse = pytest.importorskip("cupyx.scipy.sparse")
    matrix = sparse.csr_matrix(cupy.array([[0, 2.0, 9.0], [0, 0, 3.0], [0, 0, 0]]))
    result = groute_py.sssp(matrix, 0, device="cuda")
    assert result is not None
    assert result.distances.tolist() == [0, 2, 5]


def test_answers_stay_until_they_are_asked_for(cupy: Any) -> None:
    graph = random_graph(500, 900, 3, 20)
    options = Options(device="cuda", download=False)
    with SourceSolver(GraphSupply(on_gpu(cupy, graph)), SoloChannel(), options) as solver:
        first, second = solver.sssp(0), solver.sssp(1)
    assert first is not None
    assert second is not None
    assert isinstance(first.distances_device, cupy.ndarray)
    assert first.distances_device.dtype == np.int64
    expected = groute_py.sssp(graph, 0, device="cpu")
    assert expected is not None
    assert first.distances_device.get().tolist() == expected.distances.tolist()
    assert UNREACHED in expected.distances
    for result in (first, pickle.loads(pickle.dumps(second))):
        verify(graph, result)
        arcs = np.diff(graph.offsets)[result.reached].sum()
        figures = result.statistics
        assert figures["relaxations"] - figures["useless_relaxations"] == arcs
        assert result.predecessors is not None
        assert result.predecessors.tolist() == result.predecessors_device.tolist()
    farthest = int(np.where(first.reached, first.distances, 0).argmax())
    assert first.path_to(farthest)[0] == 0


@pytest.mark.parametrize("dtype", ["int32", "int64", "float32", "float64"])
def test_arcs_of_reached_vertices_are_counted_anew(dtype: str) -> None:
    graph = random_graph(301, 420, 3, 20, dtype)
    degrees, counts = np.diff(graph.offsets), set[int]()
    with groute_py.open(graph, device="cuda", download=False) as solver:
        for source in (0, 7, 0, 300):
            reached = solver.sssp(source).reached
            arcs = solver._opened.source_solver.device.arcs_reached()
            assert arcs == degrees[reached].sum() < graph.arc_count
            counts.add(arcs)
    assert len(counts) > 1


@pytest.mark.parametrize("method", ["delta-stepping", "csr-bellman-ford"])
def test_what_a_cutoff_leaves_unreached_has_no_predecessor(method: str) -> None:
    """Though there is a sum of 2^31 − 1, which stands for that."""
    greatest = 2**31 - 1
    graph = graph_of(4, [(0, 1, greatest - 3), (1, 2, 3), (2, 3, 1)])
    chosen = {"algorithm": method, "cutoff": greatest - 1}
    result = groute_py.sssp(graph, 0, device="cuda", download=False, **chosen)
    assert result is not None
    assert result.distances_device.tolist() == [0, greatest - 3, UNREACHED, UNREACHED]
    assert result.predecessors_device.tolist() == [-1, 0, -1, -1]


def test_without_predecessors(cupy: Any) -> None:
    result = groute_py.sssp("road:9x9", 0, device="cuda", predecessors=False, download=False)
    assert result is not None
    assert result.predecessors_device is None
    assert result.predecessors is None


@pytest.mark.parametrize("ranks", [2, 3])
def test_several_ranks_take_it_through_the_host(cupy: Any, ranks: int) -> None:
    graph = random_graph(200, 1000, 5, 9)

    def work(channel: Any) -> Any:
        whole = on_gpu(cupy, graph) if channel.rank == 0 else None
        return SourceSolver(
            GraphSupply(whole), channel, Options(device="cuda", mode="rounds")
        ).sssp(4)

    verify(graph, on_ranks(ranks, work)[0])


def test_negative_weights_and_an_order(cupy: Any) -> None:
    graph = on_gpu(cupy, Graph.from_arrays([0, 2, 2, 3], [1, 2, 1], [5, 9, -6]))
    result = groute_py.sssp(graph, 0, device="cuda")
    assert result is not None
    assert result.distances.tolist() == [0, 3, 9]
    roads = groute_py.generate("road:30x30")
    ordered = groute_py.sssp(on_gpu(cupy, roads), 7, device="cuda", order="bfs")
    assert ordered is not None
    verify(roads, ordered)


def test_on_the_cpu_it_is_copied(cupy: Any) -> None:
    graph = random_graph(100, 400, 1, 9)
    result = groute_py.sssp(on_gpu(cupy, graph), 0, device="cpu")
    assert result is not None
    verify(graph, result)


class Foreign:
    """An array of another library on the GPU, which has no more than DLPack."""

    def __init__(self, array: Any) -> None:
        self.array = array

    def __dlpack__(self, **options: Any) -> Any:
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return 2, 0


def test_arrays_of_other_libraries_are_taken_where_they_are(cupy: Any) -> None:
    graph, weights = random_graph(300, 1500, 7, 50), cupy.full(1500, 3)
    arrays = (Foreign(cupy.asarray(array)) for array in (graph.offsets, graph.heads))
    there = Graph.from_arrays(*arrays, Foreign(weights))
    assert there.on_device
    assert there.weights.data.ptr == weights.data.ptr
    some, pairs = np.array([3, 250]), np.array([[3, 9], [250, 4]])
    with groute_py.open(there, device="cuda", download=False) as solver:
        for other in (weights, cupy.asarray(graph.weights)):
            solver.update(Foreign(other))
            host = graph.with_weights(other.get())
            result = solver.sssp(some[0], targets=Foreign(cupy.asarray(some[1:])))
            right = groute_py.sssp(host, 3, targets=some[1:], device="cpu").distances
            assert cupy.from_dlpack(result.distances_device).get().tolist() == right.tolist()
            by_pair = solver.route(Foreign(cupy.asarray(pairs))).distances
            assert by_pair.tolist() == groute_py.route(host, pairs, device="cpu").distances.tolist()


def test_customized_weights_and_ends_of_other_libraries(cupy: Any) -> None:
    require_metis()
    graph = groute_py.generate("road:9x9")
    with groute_py.open(graph, device="cpu") as solver:
        right = solver.route(np.array([[0, 80], [4, 31]])).distances.tolist()
    roads = groute_py.customize(graph.with_weights(np.ones(graph.arc_count)), device="cuda")
    roads.update(Foreign(cupy.asarray(graph.weights)))
    ends = (Foreign(cupy.array(vertices)) for vertices in ([0, 4], [80, 31]))
    answer = roads.pairs(*ends)
    assert isinstance(answer, cupy.ndarray)
    assert answer.tolist() == right


def test_what_cannot_be_taken_where_it_is_says_why(cupy: Any) -> None:
    from groute_py.device.cuda.runtime.transfer import to_device

    class Gradient(Foreign):
        def __dlpack__(self, **options: Any) -> Any:
            raise BufferError("Can't export tensors that require gradient")

        @property
        def __cuda_array_interface__(self) -> Any:
            raise RuntimeError("Can't get __cuda_array_interface__ on Variable")

    weights = Gradient(cupy.zeros(1))
    with pytest.raises(GraphError, match=r"a Gradient cannot be read .* gradient"):
        Graph.from_arrays(cupy.array([0, 1, 1]), cupy.array([1]), weights)
    with pytest.raises(GraphError, match=r"a Gradient cannot be read .* gradient"):
        groute_py.sssp("road:9x9", 0, targets=weights, device="cuda")
    elsewhere = SimpleNamespace(__cuda_array_interface__={}, device=SimpleNamespace(id=99))
    with pytest.raises(InputError, match=r"an array lies on GPU 99, and GPU 0 is to solve"):
        to_device(elsewhere, np.int32)


def test_some_here_some_there(cupy: Any) -> None:
    with pytest.raises(GraphError, match="move them together"):
        Graph.from_arrays(cupy.array([0, 1, 1]), cupy.array([1]), np.array([3]))


def test_wrong_arrays_are_named(cupy: Any) -> None:
    with pytest.raises(GraphError, match="arc 1 leads to vertex 7"):
        Graph.from_arrays(cupy.array([0, 2, 2]), cupy.array([1, 7]), cupy.array([3, 3]))
    with pytest.raises(GraphError, match="weights must be finite"):
        Graph.from_arrays(cupy.array([0, 1, 1]), cupy.array([1]), cupy.array([np.nan]))


def test_an_order_needs_the_host() -> None:
    with pytest.raises(InputError, match="download=False"):
        groute_py.sssp("road:9x9", 0, device="cuda", order="bfs", download=False)
