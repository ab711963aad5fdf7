"""Many sources on one graph: read, cut and loaded once, then solved again and again.

python examples/many_sources.py
mpirun -n 2 python examples/many_sources.py

Which of some places is nearest to everything else? (The least mean distance: closeness.)
"""

from groute_py.api import open_session
from groute_py.comm.connect import connect
from groute_py.engine.session import Options

PLACES = range(20_000, 20_200, 25)

channel = connect()  # all ranks of the job, or this process alone
session = open_session("road:200x200", Options(predecessors=False), channel)
means = {}
for place in PLACES:
    result = session.solve(place)  # every rank calls it
    if result is not None and result.reached.sum() > session.facts.vertex_count / 2:
        means[place] = result.distances[result.reached].mean()
session.close()

if means:  # rank 0
    for place, mean in means.items():
        print(f"vertex {place}: mean distance {mean:,.0f}")
    print(f"the most central of {len(means)} is vertex {min(means, key=lambda v: means[v])}")
