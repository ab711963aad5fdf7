"""What `python -m benchmarks` measures, how, and how it is shown; start with `__main__`."""
