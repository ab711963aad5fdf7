"""Travel times at 96 times of day
===============================

A town is ordered once; its roads are slower in the morning and in the evening. Each quarter of an
hour has its own weights, and answers in milliseconds. Needs METIS; run it by::

    pip install 'groute-py[separators]'
    python examples/travel_times_of_day.py
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

import groute_py

SIDE, SEED = 60, 1
PLACES = {"Harbour": 75, "Station": 1_830, "Hospital": 3_516}

grid = groute_py.generate(f"road:{SIDE}x{SIDE}")
ids = np.array([f"corner {vertex}" for vertex in range(grid.vertex_count)])
ids[list(PLACES.values())] = list(PLACES)
town = groute_py.Graph(grid.offsets, grid.heads, grid.weights, ids=ids)

hours = np.arange(96) / 4
morning, evening = (np.exp(-((hours - peak) ** 2)) for peak in (8, 17))
random = np.random.default_rng(SEED)
into, out_of = random.random((2, town.arc_count))  # how much each road is used


def seconds_of_day() -> Iterator[Any]:
    """Yield the seconds that each road takes, for one quarter of an hour after another."""
    for rush, return_home in zip(morning, evening, strict=True):
        yield np.rint(town.weights / 20 * (1 + rush * into + return_home * out_of)).astype(np.int64)


customized = groute_py.customize(town)
times = customized.matrix(list(PLACES), list(PLACES), weights=seconds_of_day())
print(f"{times.shape[0]} times of day, {times.shape[1]} x {times.shape[2]} places")
for begin, source in enumerate(PLACES):
    for end, target in enumerate(PLACES):
        if begin < end:
            of_day = times[:, begin, end]
            worst = int(of_day.argmax())
            clock = f"{worst // 4:02}:{worst % 4 * 15:02}"
            print(
                f"{source} to {target}: {of_day.min() / 60:.0f} minutes, "
                f"{of_day.max() / 60:.0f} at {clock}"
            )
for name, quarter in (("at night", 0), ("at eight", 32)):
    customized.update(list(seconds_of_day())[quarter])
    (path,) = customized.paths(["Harbour"], ["Hospital"])
    print(f"{name} from {path[0]} to {path[-1]} over {len(path) - 2} corners")
