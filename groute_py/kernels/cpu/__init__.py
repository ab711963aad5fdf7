"""CPU kernels, compiled by Numba on first use and kept in Numba's own file cache.

Nothing outside this package imports Numba, and in it `kernel` alone.
"""
