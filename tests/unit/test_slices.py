"""Arrays that several threads look at slice by slice: the answer is that of one look at all."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.graphs import graphs

from groute_py import Graph
from groute_py.errors import GraphError
from groute_py.graph import arrays
from groute_py.graph.arrays import check_arcs, check_offsets
from groute_py.kernels.cpu import build
from groute_py.kernels.cpu.build import rows_from_arcs
from groute_py.partition import share
from groute_py.partition.share import cost_of, partition, rows_of, share_of

LENGTH = 3


@pytest.fixture(autouse=True)
def _short_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (arrays, build, share):
        monkeypatch.setattr(module, "AT_ONCE", LENGTH)


@given(tails=st.lists(st.integers(0, 11), max_size=20), is_sorted=st.booleans())
def test_rows(tails: list[int], is_sorted: bool) -> None:
    tails = sorted(tails) if is_sorted else tails
    arcs = np.arange(len(tails), dtype=np.int32)
    offsets, heads, weights = rows_from_arcs(12, np.array(tails, np.int32), arcs, -arcs)
    order = np.argsort(tails, kind="stable")
    assert offsets.tolist() == [sum(tail < row for tail in tails) for row in range(13)]
    assert heads.tolist() == order.tolist() == (-weights).tolist()


@pytest.mark.parametrize("tails", [[0, 1, 4, 5, 5], [-1, 0, 1, 2], [5, 0, 1, 1]])
def test_tails_out_of_range(tails: list[int]) -> None:
    arcs = np.arange(len(tails))
    wrong = next(arc for arc, tail in enumerate(tails) if not 0 <= tail < 5)
    with pytest.raises(GraphError, match=f"arc {wrong} leaves vertex {tails[wrong]}, but .* 5$"):
        rows_from_arcs(5, np.array(tails), arcs, arcs)


@pytest.mark.parametrize("row", range(8))
def test_offsets_that_decrease(row: int) -> None:
    offsets = np.array([0, 1, 2, 3, 4, 5, 6, 7, 8])
    check_offsets(offsets)
    offsets[row] = 8
    offsets[row + 1] = 7
    with pytest.raises(GraphError, match=f"at row {row}: 8 is followed by 7"):
        check_offsets(offsets)


@pytest.mark.parametrize("head", [-1, 4, 2**31 - 1, -(2**31)])
@pytest.mark.parametrize("arc", range(7))
def test_heads_and_weights(head: int, arc: int) -> None:
    heads, weights = np.array([0, 1, 2, 3, 3, 0, 1], np.int32), np.ones(7)
    check_arcs(heads, weights, 4)
    heads[arc], weights[arc] = head, np.nan
    with pytest.raises(GraphError, match=f"arc {arc + 9} leads to vertex {head}, but there are 4"):
        check_arcs(heads, weights, 4, 9)
    with pytest.raises(GraphError, match=f"arc {arc + 9} has weight nan"):
        check_arcs(heads, weights, 2**32, 9) if head >= 0 else check_arcs(heads[:0], weights, 4, 9)


@given(graph=graphs("int32"), parts=st.integers(2, 4))
def test_shares(graph: Graph, parts: int) -> None:
    cut = partition(graph.offsets, parts)
    tails = np.repeat(np.arange(graph.vertex_count), np.diff(graph.offsets))
    for part in range(parts):
        low, high = cut.bounds[part : part + 2]
        mine = (low <= tails) & (tails < high)
        heads = graph.heads[mine]
        outside = (heads < low) | (heads >= high)
        rows = rows_of(graph, cut, part)
        border = len(np.unique(tails[mine][outside]))
        assert cost_of(rows, cut, part) == (mine.sum(), outside.sum(), border)
        result = share_of(rows, cut, part)
        assert result.halo.tolist() == np.unique(heads[outside]).tolist()
        numbers = np.concatenate([np.arange(low, high), result.halo])
        assert numbers[result.heads].tolist() == heads.tolist()
