"""GPUs in emulation: kernels as plain C++, and as much of CuPy as the device asks for."""
