"""Compute kernels: CUDA C++ beside this file, one operation a file; their CPU forms in `cpu`."""
