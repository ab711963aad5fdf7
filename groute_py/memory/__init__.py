"""The memory that graphs and jobs take, from numbers alone: for plans, and checks before any work.

`host` has a table of jobs, `gpus` the shares of a graph, `contraction` the hierarchy of one. What a
device allocates is in ``device/cuda/runtime/memory_plan.py``, which these build on.
"""
