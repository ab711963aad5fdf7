"""Where the ranks get their rows of a graph from: rank 0, or the file."""
