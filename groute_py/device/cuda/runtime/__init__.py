"""What all solves need of CUDA: GPUs, compiling, launches, transfers, sorts, memory."""
