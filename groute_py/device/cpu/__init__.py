"""The CPU: one core a rank, kernels in Numba."""
