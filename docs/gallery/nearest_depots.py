"""The nearest of several depots
=============================

Which of eight depots is nearest to each crossing, by road? One solve from all depots at once finds
the depot, the distance and the next crossing on the way.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

import groute_py

WIDTH, HEIGHT = 200, 120
graph = groute_py.generate(f"road:{WIDTH}x{HEIGHT}")
depots = np.random.default_rng(3).choice(graph.vertex_count, 8, replace=False)
nearest = groute_py.nearest(graph, depots, to_facility=True, device="cpu")

# %%
# ``facilities`` holds a vertex for each vertex, and −1 where no path leads to a depot.
colours = np.full(graph.vertex_count, np.nan)
for number, depot in enumerate(depots):
    served = nearest.facilities == depot
    colours[served] = number
    print(f"depot {depot} serves {served.sum():,} vertices")

# %%
figure, axes = plt.subplots(figsize=(9, 5), layout="constrained")
axes.imshow(colours.reshape(HEIGHT, WIDTH), cmap="Set2", origin="lower")
axes.plot(depots % WIDTH, depots // WIDTH, "k^", markersize=9)
axes.set(xlabel="x", ylabel="y", title="the part of the town that each depot serves")
plt.show()
