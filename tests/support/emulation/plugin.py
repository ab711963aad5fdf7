"""A plugin for pytest: the tests of GPUs run in emulation, where there is none.

PYTHONPATH=tests python -m pytest -p support.emulation.plugin -m gpu tests/python/test_solvers.py

EMULATED_GPUS says how many there are, EMULATED_BLOCKS how many blocks the persistent kernel has.
With EMULATED_GRID=1 steps are grid-wide as on large graphs, and inboxes are small beside what a
step finds, so peers pull it; with EMULATED_GRID=roomy inboxes are large. With EMULATED_GROWTH=1
buckets grow, with EMULATED_PULL=1 deferred arcs are pulled as well, with EMULATED_LAPS=1
low-latency rings are short.
"""

import os

from support import as_large
from support.emulation.cupy import install

install(int(os.environ.get("EMULATED_GPUS", "1")), int(os.environ.get("EMULATED_BLOCKS", "1")))
if os.environ.get("EMULATED_GRID"):
    as_large.take_grid_steps()
    if os.environ["EMULATED_GRID"] != "roomy":
        as_large.fill_inboxes()
if os.environ.get("EMULATED_GROWTH"):
    as_large.grow_buckets()
if os.environ.get("EMULATED_PULL"):
    as_large.pull_deferred_arcs()
if os.environ.get("EMULATED_LAPS"):
    as_large.shorten_ll_rings()
