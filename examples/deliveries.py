"""Plan deliveries
===============

Which depot serves each vertex, a matrix of costs, and the way to one customer. One loaded graph
answers all three. Under ``mpirun`` each rank solves for some of the sources. Run it by one of::

    python examples/deliveries.py
    mpirun -n 2 python examples/deliveries.py
"""

import numpy as np

import groute_py

DEPOTS = [8_030, 20_100, 31_570]
CUSTOMERS = list(range(10_000, 30_000, 2_500))

with groute_py.open("road:200x200") as solver:
    served = solver.nearest(DEPOTS)
    costs = solver.matrix(DEPOTS, CUSTOMERS)
    ways = solver.route([(20_100, 20_105)], paths=True)
if served is not None and costs is not None and ways is not None:  # rank 0
    for depot in DEPOTS:
        print(f"depot {depot} serves {int((served.facilities == depot).sum()):,} vertices")
    print(f"the matrix is {costs.distances.shape[0]} x {costs.distances.shape[1]}")
    own = served.distances[CUSTOMERS]
    print(
        "its least costs are those of the nearest depots:",
        np.array_equal(costs.distances.min(axis=0), own),
    )
    assert ways.paths is not None
    print(f"from 20100 to 20105 over {len(ways.paths[0])} vertices, {ways.distances[0]:,}")
