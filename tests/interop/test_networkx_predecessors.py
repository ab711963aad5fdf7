"""All predecessors by the NetworkX backend, of sums beyond a cutoff or the greatest number."""

from __future__ import annotations

import networkx as nx
import pytest
from support.networks import both, needs_backend

pytestmark = needs_backend


@pytest.mark.parametrize(
    ("first", "second", "cutoff"), [(0, 2**63 - 1, 3), (1e308, 1.5e308, 1.2e308)]
)
def test_a_sum_beyond_the_cutoff_that_reads_as_unreached(
    first: float, second: float, cutoff: float
) -> None:
    network = nx.DiGraph([(0, 1, {"weight": first}), (1, 2, {"weight": second})])
    ours, theirs = both("dijkstra_predecessor_and_distance", network, 0, cutoff=cutoff)
    assert ours == theirs
    assert 2 not in theirs[0]


def test_a_sum_that_overflows_is_no_warning() -> None:
    network = nx.DiGraph()
    network.add_weighted_edges_from([(0, 1, 1e308), (0, 2, 1e308), (1, 2, 1.5e308)])
    ours, theirs = both("dijkstra_predecessor_and_distance", network, 0)
    assert ours == theirs
