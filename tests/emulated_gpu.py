"""A plugin for pytest: the tests of GPUs run in emulation, where there is none.

python -m pytest -p emulated_gpu -m gpu tests/test_solvers.py

EMULATED_GPUS says how many there are. With EMULATED_THICK set, kernels take every turn as on large
graphs: thick, and often shown to peers.
"""

import os

from emulated_cupy import install

from groute_py.device import memory
from groute_py.kernels import source

install(int(os.environ.get("EMULATED_GPUS", "1")))
if "EMULATED_THICK" in os.environ:
    source.THIN, memory.SMALLEST_RING = 0, 0
