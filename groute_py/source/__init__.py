"""Sources of a graph's rows for all ranks: rank 0, or the file."""
