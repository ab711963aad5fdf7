"""Arrays of a library on a GPU, into the public functions and out of them, against the host.

    python tests/gpu/array_libraries.py torch

Libraries keep memory of the GPU, and threads, so each has a process of its own.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from importlib import import_module
from operator import attrgetter, methodcaller
from typing import Any, NamedTuple

import numpy as np
import pytest

import groute_py
from groute_py import Graph, GraphError


class Library(NamedTuple):
    """Functions for a library's arrays on a GPU."""

    put: Callable[[Any], Any]  # a copy on the GPU of an array of NumPy
    take: Callable[[Any], Any]  # an array of CuPy, by DLPack
    address: Callable[[Any], int]  # of an array on the GPU
    get: Callable[[Any], Any]  # a copy in NumPy of an array on the GPU


def of_cupy() -> Library:
    cupy = import_module("cupy")
    address, get = attrgetter("data.ptr"), methodcaller("get")
    return Library(cupy.asarray, cupy.from_dlpack, address, get)


def of_torch() -> Library:
    torch = import_module("torch")

    def put(array: Any) -> Any:
        return torch.tensor(array, device="cuda")

    def address(array: Any) -> int:
        assert array.is_cuda
        return int(array.data_ptr())

    return Library(put, torch.from_dlpack, address, lambda array: array.cpu().numpy())


def of_jax() -> Library:
    os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"
    jax, dlpack = import_module("jax"), import_module("jax.dlpack")
    jax.config.update("jax_enable_x64", True)
    gpu = jax.devices("gpu")[0]

    def address(array: Any) -> int:
        assert array.devices() == {gpu}
        return int(array.unsafe_buffer_pointer())

    return Library(lambda array: jax.device_put(array, gpu), dlpack.from_dlpack, address, np.array)


ARRAYS = {"cupy": of_cupy, "torch": of_torch, "jax": of_jax}

SOURCE = 820


def check(library: Library) -> None:
    """Pass arrays to every kind of argument, and take answers on the GPU."""
    graph = groute_py.generate("road:40x40")
    weights = library.put(graph.weights)
    arrays = library.put(graph.offsets), library.put(graph.heads), weights
    there = Graph.from_arrays(*arrays)
    assert there.on_device
    assert there.weights.data.ptr == library.address(weights)
    with groute_py.open(there, device="cuda", download=False) as solver:
        check_answers(library, solver, graph)
        solver.update(3 * weights)  # which its library may still compute
        check_answers(library, solver, graph.with_weights(3 * graph.weights))
    halves = graph.weights.astype(np.float32) / 2
    result = groute_py.sssp((*arrays[:2], weights / 2), SOURCE, device="cuda")
    right = groute_py.sssp(graph.with_weights(halves), SOURCE, device="cpu").distances
    assert result.distances.tolist() == right.tolist()


def check_answers(library: Library, solver: groute_py.Solver, graph: Graph) -> None:
    """Compare answers of a solver of the same graph."""
    result = solver.sssp(SOURCE)
    right = groute_py.sssp(graph, SOURCE, device="cpu").distances
    distances = library.take(result.distances_device)
    assert library.address(distances) == result.distances_device.data.ptr
    assert library.get(distances).tolist() == right.tolist()
    parents = library.get(library.take(result.predecessors_device))
    groute_py.verify(graph, groute_py.Result(SOURCE, right, parents))
    some, others = np.array([SOURCE, 3, 1500]), np.array([41, 900])
    rows = solver.matrix(library.put(some), library.put(others)).distances
    assert rows.tolist() == groute_py.matrix(graph, some, others, device="cpu").distances.tolist()
    ended = solver.sssp(SOURCE, targets=library.put(others))
    early = groute_py.sssp(graph, SOURCE, targets=others, device="cpu").distances
    assert library.get(library.take(ended.distances_device)).tolist() == early.tolist()
    pairs = np.array([[SOURCE, 41], [3, 900], [1500, 3]])
    routes = solver.route(library.put(pairs)).distances
    assert routes.tolist() == groute_py.route(graph, pairs, device="cpu").distances.tolist()
    near = solver.nearest(library.put(some)).facilities_device
    nearest = groute_py.nearest(graph, some, device="cpu").facilities
    assert library.get(library.take(near)).tolist() == nearest.tolist()


def check_gradient() -> None:
    """A tensor that PyTorch does not give away is refused with PyTorch's reason."""
    torch = import_module("torch")
    weights = torch.ones(1, device="cuda", requires_grad=True)
    ends = torch.tensor([0, 1, 1], device="cuda"), torch.tensor([1], device="cuda")
    with pytest.raises(GraphError, match=r"a Tensor cannot be read .* grad"):
        Graph.from_arrays(*ends, weights)


def check_frames() -> None:
    """A frame of cuDF is a graph, whose answers are frames of cuDF."""
    graph = groute_py.generate("road:40x40")
    tails = np.repeat(np.arange(graph.vertex_count), np.diff(graph.offsets))
    columns = {"tail": tails, "head": graph.heads, "weight": graph.weights}
    frame = import_module("cudf").DataFrame(columns)
    answer = groute_py.sssp(frame, SOURCE, device="cuda").to_frame()
    assert type(answer).__module__.startswith("cudf")
    right = groute_py.sssp(frame.to_pandas(), SOURCE, device="cpu").to_frame(library="pandas")
    assert answer["distance"].to_pandas().tolist() == right["distance"].tolist()


def main(name: str) -> None:
    if name == "cudf":
        check_frames()
    else:
        check(ARRAYS[name]())
    if name == "torch":
        check_gradient()
    print(f"{name} {import_module(name).__version__} agrees")


if __name__ == "__main__":
    main(sys.argv[1])
