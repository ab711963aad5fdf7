"""A plugin for pytest: the tests of GPUs run in emulation, where there is none.

python -m pytest -p emulated_gpu -m gpu tests/test_solvers.py

EMULATED_GPUS says how many there are. As on large graphs turns are thick with EMULATED_THIN=0, and
with EMULATED_RING=0 inboxes are small beside what a turn finds, which is shown to peers then. With
EMULATED_GROWTH=1 windows grow.
"""

import os

from emulated_cupy import install

from groute_py.device import memory
from groute_py.kernels import source

install(int(os.environ.get("EMULATED_GPUS", "1")))
source.THIN = int(os.environ.get("EMULATED_THIN", source.THIN))
memory.SMALLEST_RING = int(os.environ.get("EMULATED_RING", memory.SMALLEST_RING))
if os.environ.get("EMULATED_GROWTH"):
    import as_large

    as_large.grow_windows()
