"""CUDA for all solves: GPUs, compiling, launches, transfers, sorts, memory."""
