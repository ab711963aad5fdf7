"""One source: near-far relaxation by a persistent kernel, and predecessors."""
