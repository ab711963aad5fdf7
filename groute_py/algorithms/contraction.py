"""A contraction hierarchy, made while the graph is loaded, and a sweep for each tree.

Contraction (Geisberger et al., 2012) ends the long chain of dependent steps that a road graph is to
every other method: a tree is a short search upward, then one sweep down some fifty levels (PHAST:
Delling et al., 2013). It pays where a graph is solved more than a few times.
"""

from __future__ import annotations

from groute_py.algorithms.base import Algorithm
from groute_py.device.registry import on_cpu, on_gpu

ALGORITHM = Algorithm(
    name="contraction",
    summary="contraction hierarchy, then a sweep for each tree (PHAST)",
    complexity="n + m + shortcuts",
    float_weights=False,
    pads=True,
    contracts=True,
    devices={
        "cpu": on_cpu("groute_py.device.cpu.methods.contraction", "Contraction"),
        "cuda": on_gpu("groute_py.device.cuda.methods.contraction", "Contraction"),
    },
)
