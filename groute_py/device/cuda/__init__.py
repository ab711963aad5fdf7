"""GPUs of NVIDIA: kernels of `groute_py.kernels`, compiled by CuPy."""
