"""Centralities of vertices and arcs, and measures of distance, exact or from sampled sources.

Sources are divided among all ranks of the job, each of which has the whole graph. Rows of
distances are reduced where they are computed, on the GPU or on all cores. In a script under
``mpirun`` every rank calls a function, and rank 0 gets the answer.

These options belong to every function:

* ``weighted`` (True): add weights; False counts arcs.
* ``reverse`` (False): take the distances to a vertex, not those from it. Not for betweenness.
* ``device`` (``"auto"``): the processor, ``"cpu"`` or ``"cuda"``.
* ``memory_limit`` (None): bytes of a GPU's memory that may be used; None for what is free.
* ``tail``, ``head``, ``weight`` (None): columns of a table, as for `groute_py.sssp`.
* ``ignore_columns`` (``()``): columns of a table that count as absent.
* ``comm`` (None): an MPI communicator; None for all ranks that the launcher started.

>>> from groute_py.centrality import diameter
>>> diameter("road:20x20", weighted=False, device="cpu")
68
"""

from groute_py.centrality.measures import (
    betweenness,
    closeness,
    diameter,
    eccentricity,
    edge_betweenness,
    harmonic,
    mean,
    radius,
)
from groute_py.centrality.scores import ArcScores, Scores

__all__ = [
    "ArcScores",
    "Scores",
    "betweenness",
    "closeness",
    "diameter",
    "eccentricity",
    "edge_betweenness",
    "harmonic",
    "mean",
    "radius",
]
