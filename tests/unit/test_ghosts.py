"""How ranks number each other's vertices."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from groute_py.device.cuda.graph.ghosts import Ghosts


@given(owned=st.lists(st.integers(0, 5), min_size=1, max_size=8), data=st.data())
def test_own_vertices_come_first_then_all_others_in_order(
    owned: list[int], data: st.DataObject
) -> None:
    me = data.draw(st.integers(0, len(owned) - 1))
    ghosts = Ghosts(me, owned)
    vertices = [(rank, v) for rank, count in enumerate(owned) for v in range(count)]
    in_order = sorted(vertices, key=lambda vertex: (vertex[0] != me, vertex))
    assert ghosts.rows == len(vertices)
    assert ghosts.before == sum(rank < me for rank, _ in vertices)
    for rank, count in enumerate(owned):
        first = ghosts.at(me, rank)
        assert in_order[first : first + count] == [(rank, v) for v in range(count)]
