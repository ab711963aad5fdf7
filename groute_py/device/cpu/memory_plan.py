"""Bytes of host memory that jobs on cores take; apart, so that an estimate compiles nothing."""

PATHS_BYTES = 8 + 3 * 4 + 2 * 8
"""For each vertex of a thread that counts paths, beside its sums."""

SUM_BYTES = 16
"""For each sum of dependencies of a thread."""

SIDE_BYTES = 8 + 4 * 4
"""For each vertex of a side of a search."""
