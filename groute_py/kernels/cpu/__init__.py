"""CPU kernels, compiled by Numba on first use and kept in Numba's own file cache.

Importing a module of this package loads Numba; nothing outside it imports Numba.
"""
