"""The answer: distances, predecessors and statistics, in files and as a DataFrame."""
