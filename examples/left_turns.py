"""Make left turns take longer
===========================

How does the fastest path change if left turns cost time and U-turns are forbidden? Run it by::

    python examples/left_turns.py
"""

import numpy as np

import groute_py

WIDTH, LEFT_TURN = 60, 9000
graph = groute_py.generate(f"road:{WIDTH}x{WIDTH}")  # vertex WIDTH · y + x lies at (x, y)


def heads_of(vertex):
    return graph.heads[graph.offsets[vertex] : graph.offsets[vertex + 1]].tolist()


def is_left(tail, via, head):
    """Whether a turn is to the left, where y grows downwards."""
    places = np.array([divmod(vertex, WIDTH) for vertex in (tail, via, head)])
    (down, right), (then_down, then_right) = np.diff(places, axis=0)
    return right * then_down - down * then_right < 0


def left_turns(path):
    return sum(is_left(*path[k : k + 3]) for k in range(len(path) - 2))


turns = []
for tail in range(graph.vertex_count):
    for via in heads_of(tail):
        for head in heads_of(via):
            if head == tail:
                turns.append((tail, via, head, None))
            elif is_left(tail, via, head):
                turns.append((tail, via, head, LEFT_TURN))
print(f"{len(turns):,} turns cost {LEFT_TURN:,} or are forbidden")

source, target = 20 * WIDTH + 21, 43 * WIDTH + 39
for name, listed in (("free turns", None), ("costly left turns", turns)):
    result = groute_py.sssp(graph, source, turns=listed, device="cpu")
    path = result.path_to(target)
    print(f"{name}: {result.distances[target]:,}, {left_turns(path)} times to the left")
