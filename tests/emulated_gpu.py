"""A plugin for pytest: the tests of GPUs run in emulation, where there is none.

python -m pytest -p emulated_gpu -m gpu tests/test_solvers.py
"""

from emulated_cupy import install

install()
