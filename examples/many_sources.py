"""Find the most central place
===========================

Of eight places, which one has the least mean distance to all vertices? One call solves for all
sources. Under ``mpirun`` each rank solves for some of them. Run it by one of::

    python examples/many_sources.py
    mpirun -n 2 python examples/many_sources.py
"""

from groute_py import UNREACHED, apsp

PLACES = range(20_000, 20_200, 25)

rows = apsp("road:200x200", sources=PLACES)
if rows is not None:  # rank 0
    means = {}
    for place, distances in zip(rows.sources.tolist(), rows.distances, strict=True):
        reached = distances[distances != UNREACHED]
        if len(reached) > len(distances) / 2:
            means[place] = reached.mean()
    for place, mean in means.items():
        print(f"vertex {place}: mean distance {mean:,.0f}")
    print(f"the most central of {len(means)} is vertex {min(means, key=lambda v: means[v])}")
