"""Bellman-Ford with a worklist (Moore, 1959).

Only vertices whose distance has improved relax their arcs. This is near–far relaxation with one
bucket of infinite width. Negative weights are allowed. A reachable negative cycle would make the
work endless, so `groute_py.engine.negative_cycle` watches its progress.
"""

from __future__ import annotations

from groute_py.algorithms.base import Algorithm

ALGORITHM = Algorithm(
    name="bellman-ford",
    summary="Bellman-Ford with a worklist; negative cycles reported",
    complexity="n·m",
    negative_weights=True,
    distributed=True,
)
