"""Sources of the ranks' rows of a graph: rank 0, or the file."""
