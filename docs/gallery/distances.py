"""Distances on a road graph
=========================

How far is each crossing of a town from the middle? The picture shows the distances, and the
shortest path to the farthest crossing.
"""

# %%
# A generated road graph is a grid: vertex ``y * WIDTH + x`` lies at column x and row y. Some edges
# of the grid are missing, so some vertices have no path from the middle; they stay white.
import matplotlib.pyplot as plt
import numpy as np

import groute_py

WIDTH, HEIGHT = 200, 120
source = (HEIGHT // 2 - 1) * WIDTH + WIDTH // 2
result = groute_py.sssp(f"road:{WIDTH}x{HEIGHT}", source, device="cpu")

# %%
# Distances of integer weights are integers, and `UNREACHED` where no path leads.
distances = np.where(result.reached, result.distances, np.nan).reshape(HEIGHT, WIDTH)
farthest = int(np.nanargmax(distances))
path = np.array(result.path_to(farthest))
print(f"{result.reached.sum():,} of {distances.size:,} vertices can be reached")
print(f"the farthest is vertex {farthest}, at distance {result.distances[farthest]:,}")

# %%
figure, axes = plt.subplots(figsize=(9, 5), layout="constrained")
picture = axes.imshow(distances, cmap="viridis", origin="lower")
axes.plot(path % WIDTH, path // WIDTH, color="white", linewidth=1.5)
axes.set(xlabel="x", ylabel="y")
figure.colorbar(picture, label="distance from the middle", shrink=0.8)
plt.show()
