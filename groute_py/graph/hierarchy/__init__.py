"""Contraction hierarchies: what they are, and whether a graph is worth one."""
