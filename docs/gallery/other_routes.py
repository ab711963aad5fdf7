"""Routes, and other routes
========================

The way to work, the next best ways, and all that is within a quarter of its length. Other routes
are the k shortest simple paths, which pass no crossing twice.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

import groute_py

WIDTH, HEIGHT = 100, 60
graph = groute_py.generate(f"road:{WIDTH}x{HEIGHT}")
home, work = 20 * WIDTH + 20, 40 * WIDTH + 80
routes = groute_py.route(graph, [(home, work)], k=40, paths=True, device="cpu")

# %%
lengths = routes.distances[0]
print(f"the shortest is {lengths[0]:,} long, the last of {len(lengths)} {lengths[-1]:,}")

# %%
# A cutoff ends the search, so that only a part of the town is looked at.
near = groute_py.sssp(graph, home, cutoff=float(lengths[0]) / 4, device="cpu")
reached = np.where(near.reached, near.distances, np.nan).reshape(HEIGHT, WIDTH)
figure, axes = plt.subplots(figsize=(9, 5), layout="constrained")
picture = axes.imshow(reached, cmap="Blues_r", origin="lower")
for number, path in reversed(list(enumerate(routes.paths[0]))):
    along, colour = np.array(path), "tab:red" if number == 0 else "0.6"
    axes.plot(along % WIDTH, along // WIDTH, color=colour, linewidth=3 if number == 0 else 1)
axes.plot([home % WIDTH, work % WIDTH], [home // WIDTH, work // WIDTH], "ko")
axes.set(xlabel="x", ylabel="y", xlim=(0, WIDTH), ylim=(0, HEIGHT))
figure.colorbar(picture, label="distance from home", shrink=0.8)
plt.show()
