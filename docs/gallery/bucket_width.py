"""The width of a bucket
=====================

Near-far Δ-stepping relaxes vertices in buckets of width Δ. Narrow buckets need many steps; in wide
ones vertices are relaxed more than once. The script counts both, for widths around the automatic Δ.
"""

# %%
import matplotlib.pyplot as plt

import groute_py

graph = groute_py.generate("road:200x200")
automatic = groute_py.sssp(graph, 20_100, device="cpu").statistics["delta"]
widths = [automatic * 2.0**power for power in range(-8, 9, 2)]
print(f"the automatic width is {automatic}")

# %%
# A width of at least 1 is valid for integer weights. The distances are the same for each width.
relaxations, steps = [], []
for width in widths:
    statistics = groute_py.sssp(graph, 20_100, device="cpu", delta=width).statistics
    relaxations.append(statistics["relaxations"] / graph.arc_count)
    steps.append(statistics["steps"])

# %%
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
left.plot(widths, relaxations, "o-")
left.set(xlabel="Δ", ylabel="relaxations of an arc, on the mean", xscale="log")
right.plot(widths, steps, "o-")
right.set(xlabel="Δ", ylabel="buckets", xscale="log", yscale="log")
for axes in (left, right):
    axes.axvline(automatic, color="grey", linestyle=":", label="automatic Δ")
    axes.legend()
plt.show()
