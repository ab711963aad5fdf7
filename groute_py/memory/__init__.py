"""The memory that graphs and jobs take, from numbers alone: for plans, and checks before any work.

`host` has a table of jobs, `gpus` the shares of a graph, `contraction` the hierarchy of one. What a
device allocates is in `groute_py.device.cuda.runtime.memory_plan`, which these build on.
"""
