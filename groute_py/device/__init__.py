"""Devices that solve a share: one protocol, and CPU and CUDA with the same verbs in one order."""
