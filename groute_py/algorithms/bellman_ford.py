"""Bellman-Ford with a worklist (S9).

Only vertices whose distance has improved relax their arcs. That is near–far relaxation with one
window of infinite width. Negative weights are allowed; with a reachable negative cycle the work
would never end, so its progress is watched: see `groute_py.engine.negative_cycle`.
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
