"""Arrays of every size and type arrive whole, on a GPU and back."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from support.skips import needs_gpu

from groute_py import generate, sssp, verify
from groute_py.results.distances import public_distances, put_public

pytestmark = needs_gpu

PIECE = 1 << 20
"""Elements of four bytes in a buffer."""


def drawn(count: int, dtype: str) -> Any:
    values = np.random.default_rng(count).integers(0, 2**31 - 1, count)
    return values.astype(dtype)


@pytest.mark.parametrize("count", [0, 1, PIECE, PIECE + 1, 2 * PIECE, 19 * PIECE + 5])
@pytest.mark.parametrize("dtype", ["int32", "int64", "float64"])
def test_there_and_back(count: int, dtype: str) -> None:
    from groute_py.device.cuda.runtime.transfer import to_device, to_host

    values = drawn(count, dtype)
    there = to_device(values, dtype)
    assert there.dtype == dtype
    back = to_host(there)
    assert isinstance(back, np.ndarray)
    np.testing.assert_array_equal(back, values)


@pytest.mark.parametrize("count", [7, 5 * PIECE + 3])
def test_it_is_widened_on_the_way_back(count: int) -> None:
    from groute_py.device.cuda.runtime.transfer import converted_on_host, to_device

    values = drawn(count, "int32")
    values[::3] = np.iinfo(np.int32).max
    result = converted_on_host(to_device(values, "int32"), np.dtype(np.int64), put_public)
    np.testing.assert_array_equal(result, public_distances(values))


@pytest.mark.parametrize(("given", "wanted"), [("int64", "int32"), ("uint32", "int32")])
@pytest.mark.parametrize("count", [7, 5 * PIECE + 3])
def test_types_change_on_the_way(count: int, given: str, wanted: str) -> None:
    from groute_py.device.cuda.runtime.transfer import to_device, to_host

    values = drawn(count, given)
    values.flags.writeable = False
    there = to_device(values, wanted)
    np.testing.assert_array_equal(to_host(there), values.astype(wanted))
    np.testing.assert_array_equal(to_host(to_device(there, "float64")), values.astype(float))


@pytest.mark.parametrize(("given", "wanted"), [("int64", "int32"), ("float32", "float64")])
@pytest.mark.parametrize("count", [0, 7, 2 * PIECE + 3])
def test_arcs_are_packed_on_the_way(count: int, given: str, wanted: str) -> None:
    """As those that are on the GPU already."""
    from groute_py.device.cuda.graph.csr import packed_arcs, unpacked_arcs
    from groute_py.device.cuda.runtime.transfer import to_device, to_host

    heads, weights = drawn(count, "int32"), drawn(count, given)
    kind = np.dtype(wanted)
    arcs = packed_arcs(heads, weights, kind)
    assert arcs.nbytes == 2 * count * kind.itemsize
    there = packed_arcs(to_device(heads, "int32"), to_device(weights, given), kind)
    np.testing.assert_array_equal(to_host(arcs), to_host(there))
    found_heads, found_weights = unpacked_arcs(arcs, kind)
    np.testing.assert_array_equal(to_host(found_heads), heads.view(np.uint32))
    np.testing.assert_array_equal(to_host(found_weights.copy()), weights.astype(wanted))


def test_threads_wait_for_each_other() -> None:
    from groute_py.device.cuda.runtime.transfer import to_device, to_host

    def both_ways(seed: int) -> bool:
        values = drawn(3 * PIECE + seed, "int32")
        return bool((to_host(to_device(values, "int32")) == values).all())

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(both_ways, range(12)))


@pytest.mark.parametrize("weights", ["int32", "int64", "float64"])
def test_a_graph_of_many_pieces(weights: str) -> None:
    graph = generate("road:1500x1500")
    other = type(graph)(graph.offsets, graph.heads, graph.weights.astype(weights))
    result = sssp(other, 1_000_000, device="cuda")
    assert result is not None
    verify(other, result)
