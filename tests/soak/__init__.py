"""Random solves against exact arithmetic: ``make soak``, or ``python -m soak``.

A case is a graph (`shapes`, `weights`) and a way to solve it (`case`): entry, method, ranks, mode,
order, targets and so on, all drawn from one number. `solving` solves it, ranks being threads
(`support.local_ranks`). `reference` finds the right distances with Python integers, and `checks`
compares distances, the reached vertices, the tree and the statistics. A case that fails prints the
command that repeats it.
"""
