"""Many sources on one GPU, and all pairs."""
