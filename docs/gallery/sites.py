"""The best site by a matrix
=========================

Which of six sites is nearest, on average, to forty shops? A matrix holds the distance from each
site to each shop.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

import groute_py

WIDTH, HEIGHT = 200, 120
graph = groute_py.generate(f"road:{WIDTH}x{HEIGHT}")
within = np.flatnonzero(groute_py.sssp(graph, WIDTH * HEIGHT // 2, device="cpu").reached)
sites, shops = np.split(np.random.default_rng(5).choice(within, 46, replace=False), [6])
matrix = groute_py.matrix(graph, sites, shops, device="cpu")

# %%
means = matrix.distances.mean(axis=1)
best = int(means.argmin())
for site, mean in zip(sites, means, strict=True):
    print(f"site {site}: {mean:,.0f} on average")

# %%
# Each column is a shop; the columns are in the order of the distance from the best site.
order = matrix.distances[best].argsort()
figure, (table, town) = plt.subplots(2, figsize=(9, 8), height_ratios=(1, 2), layout="constrained")
picture = table.imshow(matrix.distances[:, order], cmap="viridis", aspect="auto")
table.set(xlabel="shop", yticks=range(6), yticklabels=sites, ylabel="site")
figure.colorbar(picture, label="distance")
town.plot(shops % WIDTH, shops // WIDTH, "o", color="tab:blue", label="shops")
town.plot(sites % WIDTH, sites // WIDTH, "k^", markersize=9, label="sites")
town.plot(sites[best] % WIDTH, sites[best] // WIDTH, "r^", markersize=13, label="the best site")
town.set(xlabel="x", ylabel="y", aspect="equal")
town.legend(loc="upper right")
plt.show()
