"""The memory that graphs and jobs take, from numbers alone: for plans, and checks before any work.

It builds on `groute_py.device.cuda.runtime.memory_plan`.
"""
