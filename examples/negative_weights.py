"""Exchange money at the best rate
===============================

An exchange at rate r is an arc of weight −log r. The shortest path is then the best way to
exchange, and a negative cycle is a sequence of exchanges that makes a profit. Needs SciPy. Run it
by::

    python examples/negative_weights.py
"""

import math

import scipy.sparse as sparse

import groute_py

NAMES = ["EUR", "USD", "GBP", "JPY"]
RATES = {(0, 1): 1.10, (1, 2): 0.80, (2, 0): 1.13, (2, 3): 190.0, (1, 3): 150.0, (3, 0): 0.0059}


def best_ways(rates: dict[tuple[int, int], float]) -> None:
    tails, heads = zip(*rates, strict=True)
    weights = [-math.log(rate) for rate in rates.values()]
    arcs = sparse.csr_array((weights, (tails, heads)), shape=(len(NAMES), len(NAMES)))
    try:
        result = groute_py.sssp(arcs, NAMES.index("EUR"))
    except groute_py.NegativeCycleError as error:
        cycle = " → ".join(NAMES[v] for v in error.cycle)
        print(f"{cycle}: {100 * (math.exp(-error.weight) - 1):.2f} % profit")
        return
    assert result is not None
    for index, name in enumerate(NAMES):
        path = " → ".join(NAMES[v] for v in result.path_to(index))
        print(f"1 EUR = {math.exp(-result.distances[index]):.4f} {name} by {path}")


best_ways(RATES)
best_ways(RATES | {(2, 0): 1.20})  # 1 EUR → 1.10 USD → 0.88 GBP → 1.056 EUR
