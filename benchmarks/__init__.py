"""Benchmarks: the cases, how they are measured, and the charts; start with `__main__`."""
