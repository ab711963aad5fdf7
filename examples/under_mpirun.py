"""Solve one graph on several ranks
================================

Rank 0 generates the graph and gets the answer. Run it by one of::

    mpirun -n 4 python examples/under_mpirun.py
    python examples/under_mpirun.py
"""

import groute_py

# Every rank makes the same call. Rank 0 generates the graph and spreads it over all ranks.
result = groute_py.sssp("road:200x200", 20100)

if result is not None:  # rank 0
    statistics = result.statistics
    print(f"{statistics['ranks']} ranks: {', '.join(statistics['devices'])}")
    total = result.distances[result.reached].sum()
    print(f"{result.reached.sum():,} vertices reached, sum of distances {total:,}")
    print(f"{sum(map(sum, statistics['bytes_sent'])):,} bytes sent between ranks")
