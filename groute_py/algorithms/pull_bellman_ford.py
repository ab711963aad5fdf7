"""Bellman-Ford by min-plus products: distance = min(distance, Aᵀ ⊗ distance).

In the semiring (min, +) a product with the transposed matrix relaxes every arc: each vertex takes
the best of its in-arcs. Rounds are repeated until one changes nothing, at most n times without a
reachable negative cycle. There is no worklist and no atomic, so the method pays if most distances
change in most rounds. Storages: ``csr``, rows of in-arcs; ``ell``, equally many slots a vertex,
refused for very uneven degrees; ``dense``, the matrix, kept in shared memory if it fits.
"""

from __future__ import annotations

from groute_py.algorithms.base import Algorithm
from groute_py.device.registry import on_cpu, on_gpu


def _algorithm(storage: str, summary: str, complexity: str) -> Algorithm:
    return Algorithm(
        name=f"{storage}-bellman-ford",
        summary=summary,
        complexity=complexity,
        negative_weights=True,
        pads=True,
        devices={
            "cpu": on_cpu("groute_py.device.cpu.methods.min_plus", "MinPlus", storage=storage),
            "cuda": on_gpu("groute_py.device.cuda.methods.min_plus", "MinPlus", storage=storage),
        },
    )


CSR = _algorithm("csr", "Bellman-Ford by min-plus products, matrix in CSR", "n·m")
"""The method of a GPU for few vertices with many arcs each."""

ALGORITHMS = (
    CSR,
    _algorithm("ell", "the same, matrix in ELL", "n·m"),
    _algorithm("dense", "the same, dense matrix in shared memory", "n³"),
)
