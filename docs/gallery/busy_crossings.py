"""Crossings that most paths use
=============================

Betweenness counts, for each crossing, the shortest paths that lead through it. Two hundred sources
that are drawn at random estimate it, and say how large the error is.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

import groute_py
from groute_py import centrality

WIDTH, HEIGHT = 100, 60
graph = groute_py.generate(f"road:{WIDTH}x{HEIGHT}")
sources = np.random.default_rng(1).choice(graph.vertex_count, 200, replace=False)
scores = centrality.betweenness(graph, sources=sources, device="cpu")

# %%
busiest = np.argsort(scores.values)[::-1][:5]
for vertex in busiest:
    print(f"vertex {vertex}: {scores.values[vertex]:,.0f} ± {scores.errors[vertex]:,.0f} paths")

# %%
# The logarithm shows the main roads of the town.
figure, axes = plt.subplots(figsize=(9, 5), layout="constrained")
picture = axes.imshow(
    np.log10(scores.values + 1).reshape(HEIGHT, WIDTH), cmap="magma", origin="lower"
)
axes.plot(busiest % WIDTH, busiest // WIDTH, "wo", fillstyle="none", markersize=9)
axes.set(xlabel="x", ylabel="y")
figure.colorbar(picture, label="log₁₀ of the paths through a vertex", shrink=0.8)
plt.show()
