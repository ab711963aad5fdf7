"""Random graphs of NetworkX, and the answers of the backend beside NetworkX's own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import networkx as nx
import pytest
from hypothesis import strategies as st

KINDS = [nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph]

needs_backend = pytest.mark.skipif(
    "groute" not in nx.utils.backends.backends,
    reason="NetworkX finds backends among installed packages; pip install -e . makes it one",
)


@st.composite
def networks(draw: st.DrawFn, least: int = 0, kinds: Any = tuple(KINDS)) -> Any:
    """Loops, parallel edges, zeros, missing weights, nodes of several types."""
    made = draw(st.sampled_from(kinds))()
    count = draw(st.integers(1, 12))
    names = [v if v % 3 else f"node {v}" for v in range(count)]
    made.add_nodes_from(names)
    vertex = st.sampled_from(names)
    scale = draw(st.sampled_from([1, 0.25]))
    for tail, head, weight in draw(
        st.lists(st.tuples(vertex, vertex, st.integers(least, 9)), max_size=3 * count)
    ):
        made.add_edge(tail, head, **({} if weight == 9 else {"weight": weight * scale}))
    return made


def both(name: str, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    """The backend's answer, which never falls back when named, and NetworkX's; or their errors."""
    answers = []
    for where in ("groute", "networkx"):
        try:
            answer = getattr(nx, name)(*args, **kwargs, backend=where)
            answers.append(dict(answer) if isinstance(answer, Iterator) else answer)
        except nx.NetworkXException as error:
            answers.append(type(error))
    return answers[0], answers[1]
