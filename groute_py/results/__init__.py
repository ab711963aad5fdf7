"""The answer: distances, predecessors and statistics, in files and as tables; and its proof."""
